import numpy as np, atoll as at, math
from h import *
HDR="import numpy as np\nimport math\nimport atoll as at\nfrom atoll import f32,f64,i64,i32,u8,u32,i8,c128\nn,m,k=at.sizes('n m k')\n"
r=np.random.default_rng(3)
def both(body,*argsets,tol=1e-12):
    ns={"np":np,"math":math,"at":at}
    exec("from __future__ import annotations\nimport numpy as np\n"+body,ns); pf=ns["f"]
    f=guard(body,lambda:at.fn(source=HDR+"@at.fn\n"+body+"\n"))
    if f is None: return
    import re
    for a in argsets:
        for ann,x in zip(pf.__annotations__.values(),a):
            mm=re.search(r'\[(.*)\]',ann)
            if mm:
                for nm,sz in zip(mm.group(1).split(','),np.shape(x)): ns[nm.strip()]=sz
        try:
            with np.errstate(all="ignore"): w=pf(*[x.copy() if isinstance(x,np.ndarray) else x for x in a])
        except Exception as e: w=e
        try: g=f(*a)
        except Exception as e: g=e
        if isinstance(w,Exception) or isinstance(g,Exception):
            if not(isinstance(w,Exception) and isinstance(g,Exception)):
                print("DIFF",body,"\n args",a,"\n numpy:",repr(w)[:200],"\n atoll:",str(g)[:400] if isinstance(g,Exception) else repr(g)[:200])
            else: OK[0]+=1
            continue
        flat=lambda z: sum((flat(q) for q in z),()) if isinstance(z,(tuple,list)) else (z,)
        try: same((body,[np.shape(q) for q in a]),flat(g),flat(w),tol)
        except Exception as e: print("CMP",body,e,g,w)
V=[(r.normal(size=N),) for N in (1,2,7,1000)]; V0=[(np.zeros(0),)]+V
M=[(r.normal(size=s),) for s in ((1,1),(2,3),(9,4))]; M0=[(np.zeros((0,3)),),(np.zeros((3,0)),)]+M
I=[(r.integers(-50,50,N),) for N in (1,2,30)]; I0=[(np.zeros(0,np.int64),)]+I
both("def f(x: f64[n]):\n    out=np.empty(n)\n    for i,v in enumerate(x):\n        out[i]=v if i%2==0 else -v\n    return out",*V0)
both("def f(x: f64[n]):\n    y=x.copy()\n    y[y<0]=0.0\n    y[::2]*=2\n    return y, x",*V0)
both("def f(x: f64[n]):\n    return np.diff(x), np.cumsum(x), x[::-1], np.sort(x)[::-1], np.argsort(x)",*V0)
both("def f(x: f64[n]):\n    return np.var(x), np.std(x,ddof=1), np.median(x), np.percentile(x,[10,50,99.5])",*V)
both("def f(x: i64[n]):\n    return x//7, x%7, x//-7, x%-7, x&3, x|8, x^5, ~x, x<<2, x>>1, abs(x), -x",*I0)
both("def f(x: i64[n]):\n    u,c=np.unique(x,return_counts=True)\n    return u,c",*I0)
both("def f(x: i64[n]):\n    best=0\n    run=0\n    for i in range(1,n):\n        run=run+1 if x[i]>x[i-1] else 0\n        best=max(best,run)\n    return best",*I0)
both("def f(x: i64[n]):\n    s=0\n    i=0\n    while True:\n        if i>=len(x):\n            break\n        if x[i]<0:\n            i+=2\n            continue\n        s+=x[i]\n        i+=1\n    else:\n        s=-1\n    return s,i",*I0)
both("def f(a: f64[n,m]):\n    return a.mean(axis=0), a.sum(axis=1), a.max(initial=0.0), np.linalg.norm(a), a.T@a",*M)
both("def f(a: f64[n,m]):\n    b=a.copy()\n    for i in range(n):\n        for j in range(m):\n            if i==j:\n                b[i,j]+=1\n            elif i<j:\n                b[i,j]=b[j%n,i%m]*0.5\n    return b",*M0)
both("def f(a: f64[n,m]):\n    return np.concatenate([a,a*2],axis=1), np.stack([a,a],axis=-1), np.roll(a,1,axis=0), np.flip(a,1), np.pad(a,((1,0),(0,2)))",*M0)
both("def f(x: f64[n]):\n    i=np.argmax(x)\n    j=np.argmin(x)\n    lo,hi=min(i,j),max(i,j)\n    s=0.0\n    for q in range(lo,hi+1):\n        s+=x[q]\n    return lo,hi,s",*V)
both("def f(x: f64[n]):\n    z=np.fft.rfft(x)\n    return np.abs(z)**2, np.fft.irfft(z,n=len(x))",*V,tol=1e-8)
both("def f(x: f64[n]):\n    return np.convolve(x,np.array([0.25,0.5,0.25]),mode='same'), np.convolve(x,x)",*V[1:],tol=1e-9)
both("def f(x: f64[n]):\n    h,e=np.histogram(x,bins=5,range=(-2.0,2.0))\n    return h,e,np.digitize(x,e)",*V0)
both("def f(x: f64[n]):\n    c=np.polyfit(np.arange(n)/n,x,2)\n    return np.polyval(c,0.3)",*V[2:],tol=1e-6)
both("def f(x: f64[n]):\n    t=(0,0.0)\n    for i in range(n):\n        if x[i]>t[1]:\n            t=(i,x[i])\n    return t",*V0)
both("def f(x: f64[n]):\n    def clampf(v,lo=-1.0,hi=1.0):\n        return lo if v<lo else hi if v>hi else v\n    return np.array([clampf(v) for v in x]), np.array([clampf(v,hi=0.1) for v in x])",*V0)
both("def f(x: f64[n]):\n    return sum(1 for v in x if v>0), any(v>2 for v in x), all(v<5 for v in x), max((v for v in x if v<0),default=-9.0)",*V0)
both("def f(x: i64[n]):\n    p=[v for v in x if v%3==0]\n    return np.array(p), len(p)",*I[1:])
both("def f(a: i64, b: i64):\n    while b:\n        a,b=b,a%b\n    return a",(12,18),(0,0),(7,0),(-12,18))
both("def f(a: i64, b: i64):\n    while b!=0:\n        a,b=b,a%b\n    return a",(12,18),(0,0),(7,0),(-12,18))
both("def f(x: u8[n]):\n    return x+x, x*3, x.sum(), x//2, x>>1, ~x, x.astype(np.int64)-200, x.max(initial=0)",(np.zeros(0,np.uint8),),(np.arange(0,256,5).astype(np.uint8),))
both("def f(x: f32[n]):\n    return x*2, x/3, x**2, np.sqrt(np.abs(x)), x.mean(), np.exp(x), x+1.5",(r.normal(size=17).astype(np.float32),),tol=1e-6)
both("def f(z: c128[n]):\n    w=np.conj(z)*z\n    return w.real, np.angle(z), np.abs(z), (z**2).imag, np.exp(1j*z.real)",(r.normal(size=5)+1j*r.normal(size=5),),(np.zeros(0,complex),))
both("def f(w: f64, h: f64, it: i64):\n    out=np.zeros((8,10),dtype=np.int32)\n    for y in range(8):\n        for x in range(10):\n            c=complex(w*x/10-2,h*y/8-1)\n            z=0j\n            q=0\n            while abs(z)<=2 and q<it:\n                z=z*z+c\n                q+=1\n            out[y,x]=q\n    return out",(3.0,2.0,50),(0.0,0.0,0))
both("def f(x: f64[n]):\n    w=3\n    out=np.zeros(n)\n    for i in range(n):\n        lo=max(0,i-w); hi=min(n,i+w+1)\n        out[i]=np.median(x[lo:hi])\n    return out",*V0)
both("def f(x: f64[n]):\n    w=3\n    return np.array([x[max(0,i-w):i+1].mean() for i in range(n)])",*V[:3])
both("def f(x: f64[n]):\n    s=np.zeros(n)\n    s[0]=x[0]\n    for i in range(1,n):\n        s[i]=0.3*x[i]+0.7*s[i-1]\n    return s",*V)
both("def f(x: i64[n]):\n    # insertion sort\n    for i in range(1,n):\n        key=x[i]\n        j=i-1\n        while j>=0 and x[j]>key:\n            x[j+1]=x[j]\n            j-=1\n        x[j+1]=key\n    return x",*I0)
both("def f(x: i64[n]):\n    # quicksort iterative\n    st=np.zeros(2*n+2,dtype=np.int64)\n    top=0\n    st[0]=0\n    st[1]=n-1\n    top=2\n    while top>0:\n        top-=2\n        lo=st[top]; hi=st[top+1]\n        if lo>=hi:\n            continue\n        p=x[hi]; i=lo\n        for j in range(lo,hi):\n            if x[j]<p:\n                x[i],x[j]=x[j],x[i]\n                i+=1\n        x[i],x[hi]=x[hi],x[i]\n        st[top]=lo; st[top+1]=i-1; top+=2\n        st[top]=i+1; st[top+1]=hi; top+=2\n    return x",*I0)
both("def f(x: i64[n], key: i64):\n    lo,hi=0,len(x)\n    while lo<hi:\n        mid=(lo+hi)//2\n        if x[mid]<key:\n            lo=mid+1\n        else:\n            hi=mid\n    return lo, np.searchsorted(x,key)",(np.arange(0,20,3),7),(np.arange(0),1),(np.arange(1),5))
both("def f(a: f64[n,m]):\n    r,c=np.nonzero(a>0.3)\n    return r,c,a[r,c]",*M0)
both("def f(a: f64[n,m]):\n    i,j=np.unravel_index(np.argmax(a),a.shape)\n    return i,j,a[i,j]",*M)
both("def f(a: f64[n,n]):\n    w,v=np.linalg.eigh(a+a.T)\n    return w, np.abs(np.linalg.det(a)), np.linalg.matrix_rank(a)",(r.normal(size=(3,3)),),(r.normal(size=(1,1)),),tol=1e-9)
both("def f(x: f64[n], q: f64):\n    return np.percentile(x,q)",(np.arange(3.),120.),(np.arange(3.),-5.),(np.arange(3.),50.),(np.zeros(0),50.))
both("def f(x: f64[n]):\n    return x.max()",*V0)
both("def f(x: f64[n]):\n    return np.mean(x), np.argmax(x)",*V0)
both("def f(x: i64[n]):\n    return np.bincount(x)",(np.array([1,1,5]),),(np.zeros(0,np.int64),),(np.array([-1]),))
both("def f(x: f64[n], y: f64[m]):\n    return np.interp(x,np.linspace(0,1,5),np.linspace(0,1,5)**2), np.outer(x,y), np.subtract.outer(x,y), np.meshgrid(x,y)[0]",(r.uniform(size=4),r.uniform(size=2)),(np.zeros(0),np.zeros(1)))
both("def f(x: f64[n]):\n    acc=0.0\n    for a,b,c in zip(x,x[1:],x[2:]):\n        acc+=a*b-c\n    return acc",*V)
both("def f(x: f64[n]):\n    for i,v in enumerate(x,start=1):\n        if v*i>3:\n            return i\n    return 0",*V0)
both("def f(x: f64[n]):\n    it=0\n    for it in range(n):\n        if x[it]>1:\n            break\n    return it",*V0)
both("def f(x: f64[n]):\n    y=x\n    y=y.reshape(-1,1)\n    return (y-y.T)**2",*V[:3])
both("def f(x: f64[n]):\n    return np.round(x,2), np.floor(x), np.trunc(x), np.sign(x), np.clip(x,-0.5,0.5), x.round(), np.isclose(x,x+1e-9)",*V0)
both("def f(a: i64, b: i64):\n    return a**2, a//b, a%b, divmod(a,b), a/b, int(a/b), round(a/b), float(a)",(7,2),(-7,2),(7,-2),(1,0))
both("def f(a: i64):\n    return bin(a)",(3,))
both("def f(a: f64):\n    return math.floor(a), math.ceil(a), math.isclose(a,1.0), math.gcd(12,18), math.comb(5,2), math.factorial(5), math.hypot(a,1.0)",(1.5,),(-0.5,))
done()
