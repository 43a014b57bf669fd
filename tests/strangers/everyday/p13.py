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
done()