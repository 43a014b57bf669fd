import numpy as np, atoll as at, math, time
from h import *
HDR="import numpy as np\nimport math\nimport atoll as at\nfrom atoll import f32,f64,i64,i32,u8,c128\nn,m,k=at.sizes('n m k')\n"
r=np.random.default_rng(3)
END=time.time()+75
def G(body,*xs,tol=2e-5,opt=""):
    if time.time()>END: print("skipped",body[:60]); return
    f=guard(body,lambda:at.fn(source=HDR+"@at.fn"+opt+"\n"+body+"\n"))
    if f is None: return
    for x in xs:
        want=fd(lambda z:f(z),x)
        same(("grad",body,x.shape),guard(("grad",body,x.shape),lambda:at.grad(f)(x)),want,tol)
        d=r.normal(size=x.shape)
        same(("jvp",body),guard(("jvp",body),lambda:at.jvp(f,x,d)),np.sum(want*d),tol*10)

v=lambda N:r.uniform(.2,1.5,N)
S=[v(1),v(2),v(6)]
G("def f(x: f64[n]) -> f64:\n    s=np.sort(x)\n    return np.sum(s*np.arange(n))+np.median(x)",*S)
G("def f(x: f64[n]) -> f64:\n    st=np.zeros(n+1)\n    top=0\n    for v in x:\n        st[top]=v\n        top+=1\n        while top>=2 and st[top-1]>st[top-2]:\n            st[top-2]=st[top-1]*st[top-2]\n            top-=1\n    return np.sum(st[:top]**2)",*S)
G("def f(x: f64[n]) -> f64:\n    a=np.zeros((n,n))\n    for i in range(n):\n        a[i,i:]=x[i:]*x[i]\n        a[i:,i]+=x[:n-i]\n    return np.sum(a@a)",*S)
G("def f(x: f64[n]) -> f64:\n    best=-np.inf\n    cur=0.0\n    for v in x:\n        cur=max(v-0.7,cur+v-0.7)\n        best=max(best,cur)\n    return best",*S)
G("def f(x: f64[n]) -> f64:\n    p=1.0\n    for i in range(n):\n        if x[i]<0.5:\n            continue\n        p*=x[i]\n        if p>2:\n            break\n    else:\n        p=p*p\n    return p",*S)
G("def f(x: f64[n]) -> f64:\n    z=np.fft.rfft(x)\n    return np.sum(np.abs(z)**2*np.arange(len(z)))",*S)
G("def f(x: f64[n]) -> f64:\n    return np.sum(np.linalg.inv(np.outer(x,x)+np.eye(n)))+np.linalg.slogdet(np.outer(x,x)+2*np.eye(n))[1]",*S)
G("def f(x: f64[n]) -> f64:\n    w,v=np.linalg.eigh(np.outer(x,x)+np.diag(np.arange(n)))\n    return np.sum(w**2*np.arange(n))",v(2),v(4))
G("def f(x: f64[n]) -> f64:\n    return np.sum(np.interp(x,np.linspace(0.0,2.0,6),np.linspace(0.0,2.0,6)**3))",*S)
G("def f(x: f64[n]) -> f64:\n    y=x\n    for _ in range(3):\n        y=np.convolve(y,np.array([0.2,0.5,0.3]),mode='same')**2\n    return np.sum(y)",v(3),v(6))
G("def f(x: f64[n]) -> f64:\n    t=0.0\n    i=0\n    while i<n and t<2:\n        t+=x[i]**2\n        i+=1\n    return t*i",*S)
G("def f(x: f64[n]) -> f64:\n    def newton(a):\n        y=a\n        for _ in range(6):\n            y=0.5*(y+a/y)\n        return y\n    return sum(newton(v) for v in x)",*S)
G("def f(x: f64[n]) -> f64:\n    y=x.copy()\n    y[y>0.8]=y[y>0.8]**2\n    y[::2]*=3\n    return np.prod(y)+np.max(y)",*S)
G("def f(x: f64[n]) -> f64:\n    g=grad(lambda z: sum(z**3)*z[0])(x)\n    return sum(g*g)",*S)
G("def f(x: f64[n]) -> f64:\n    c=scan(lambda a,b: a*b+1.0-1.0, 1.0, x)\n    e=scan(add,0.0,x,exclusive=True)\n    return sum(c*e)",*S)
G("def f(x: f64[n]) -> f64:\n    h=hist(add,0.0,3,np.arange(n)%3,x*x)\n    return np.sum(h**2)+np.logaddexp(h[0],h[1])",*S)
G("def f(x: f64[n]) -> f64:\n    m_,c=fold(lambda s,v: (s[0]*0.5+v, s[1]+s[0]*v),(0.0,1.0),x)\n    return m_*c",*S)
G("def f(x: f64[n]) -> f64:\n    d=np.full((n+1,n+1),0.0)\n    for i in range(n):\n        for j in range(n):\n            c=(x[i]-x[j])**2\n            d[i+1,j+1]=c+min(d[i,j],d[i,j+1],d[i+1,j])+d[i,j]*0.1\n    return d[n,n]+np.sum(d)",*S)
G("def f(x: f64[n]) -> f64:\n    A=np.diag(x)+0.1\n    q,rr=np.linalg.qr(A)\n    return np.sum(np.abs(np.diag(rr)))",v(1),v(3),tol=1e-4)
G("def f(x: f64[n]) -> f64:\n    k=at.random.key(1)\n    z=at.random.normal(k,(50,n))\n    return np.mean(np.max(z*x,axis=1)**2)",*S)
G("def f(x: f64[n]) -> f64:\n    return np.trapezoid(np.gradient(x)**2)+np.std(x)+np.cov(x)",v(3),v(6))
G("def f(x: f64[n]) -> f64:\n    l=np.zeros(n)\n    for t in range(4):\n        nl=np.zeros(n)\n        for j in range(n):\n            mx=max(l[i]-abs(i-j)*x[j] for i in range(n))\n            nl[j]=mx+log(sum(exp(l[i]-abs(i-j)*x[j]-mx) for i in range(n)))\n        l=nl\n    return sum(l)",*S)
G('def f(x: f64[n]) -> f64:\n    y=x\n    for i in at.loop(9, checkpoint=2):\n        y=np.tanh(y*1.3)+0.1*np.roll(y,1)\n    return np.sum(y)',*S,opt='(bits="portable")')
# threads bits at larger sizes
f=at.fn(source=HDR+"@at.fn\ndef f(x: f64[n], w: f64[m,n]):\n    s=scan(add,0.0,x)\n    return sum(sin(x)), s[n-1], w@x, np.std(x), hist(add,0.0,7,np.arange(n)%7,x), sort(x)[0], np.sum(w,axis=0)[3]\n")
x=r.normal(size=40001); w=r.normal(size=(37,40001)); out=[]
for th in (1,2,3): at.set_threads(th); out.append(b"".join(np.asarray(q).tobytes() for q in f(x,w)))
at.set_threads(2); print("threads same bits:",out[0]==out[1]==out[2])
done()
