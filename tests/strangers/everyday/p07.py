import numpy as np, atoll as at
from atoll import f32,f64,i64,u64
from h import *
n,m,k=at.sizes("n m k")
a=at.types("a")
# adaptive RK45 with closures passed
@at.fn
def rk(f: at.Fn[[f64,f64[n]],f64[n]], t0: f64, t1: f64, y0: f64[n], tol: f64):
    t=t0; y=y0; h=(t1-t0)/10; steps=0; rejected=0
    while t<t1:
        if t+h>t1:
            h=t1-t
        k1=f(t,y)
        k2=f(t+h/2,y+h*k1/2)
        k3=f(t+3*h/4,y+3*h*k2/4)
        ynew=y+h*(2*k1+3*k2+4*k3)/9
        k4=f(t+h,ynew)
        err=np.max(np.abs(h*(-5*k1/72+k2/12+k3/9-k4/8)),initial=0.0)
        if err<=tol:
            t+=h; y=ynew; steps+=1
        else:
            rejected+=1
        h*=min(5.0,max(0.2,0.9*(tol/max(err,1e-300))**(1/3)))
        if steps+rejected>10000:
            break
    else:
        rejected=-rejected
    return y,t,steps,rejected
@at.fn
def vdp(t: f64, y: f64[2]) -> f64[2]:
    return [y[1],5.0*(1-y[0]**2)*y[1]-y[0]]
def prk(f,t0,t1,y0,tol):
    t=t0;y=y0;h=(t1-t0)/10;s=r=0
    while t<t1:
        if t+h>t1:h=t1-t
        k1=f(t,y);k2=f(t+h/2,y+h*k1/2);k3=f(t+3*h/4,y+3*h*k2/4);yn=y+h*(2*k1+3*k2+4*k3)/9;k4=f(t+h,yn)
        err=np.max(np.abs(h*(-5*k1/72+k2/12+k3/9-k4/8)),initial=0.)
        if err<=tol:t+=h;y=yn;s+=1
        else:r+=1
        h*=min(5.,max(.2,.9*(tol/max(err,1e-300))**(1/3)))
        if s+r>10000:break
    else:r=-r
    return y,t,s,r
pv=lambda t,y:np.array([y[1],5*(1-y[0]**2)*y[1]-y[0]])
same("vdp",guard("vdp",lambda:rk(vdp,0.,3.,np.array([2.,0.]),1e-6)),prk(pv,0.,3.,np.array([2.,0.]),1e-6),1e-6)
@at.fn
def solve_decay(y0: f64[n], rate: f64) -> f64:
    y,t,s,r=rk(lambda t,y: -rate*y*(1+0.1*sin(t)),0.0,1.0,y0,1e-8)
    return sum(y)
y0=np.array([1.,2.])
same("dec",guard("d",lambda:solve_decay(y0,1.3)),prk(lambda t,y:-1.3*y*(1+.1*np.sin(t)),0.,1.,y0,1e-8)[0].sum(),1e-9)
for N in (0,1): same(("dec",N),guard("d",lambda:solve_decay(np.ones(N),1.3)),prk(lambda t,y:-1.3*y*(1+.1*np.sin(t)),0.,1.,np.ones(N),1e-8)[0].sum(),1e-9)
same("gdec",guard("gd",lambda:at.grad(solve_decay,wrt="rate")(y0,1.3)),(solve_decay(y0,1.3+1e-5)-solve_decay(y0,1.3-1e-5))/2e-5,1e-4)
guard("res",lambda:print(at.grad(solve_decay).residuals()))
# records/unions: event simulation, CSG
@at.record
class Sphere:
    c: f64[3]
    r: f64
@at.record
class Plane:
    nrm: f64[3]
    d: f64
@at.record
class Union2:
    a: "Shape"
    b: "Shape"
@at.record
class Shift:
    by: f64[3]
    s: "Shape"
Shape=Sphere|Plane|Union2|Shift
def mk():
    @at.fn
    def sdf(s: Shape, p: f64[3]) -> f64:
        match s:
            case Sphere(c,r):
                return sqrt(sum((p-c)**2))-r
            case Plane(nrm,d):
                return sum(nrm*p)-d
            case Union2(a,b):
                return min(sdf(a,p),sdf(b,p))
            case Shift(by,s2):
                return sdf(s2,p-by)
    return sdf
sdf=guard("sdf",mk)
if sdf:
    sc=Union2(Shift(np.array([1.,0,0]),Sphere(np.zeros(3),.5)),Plane(np.array([0,0,1.]),-1.))
    p=np.array([.3,.2,.1])
    w=min(np.linalg.norm(p-[1,0,0])-.5,p[2]+1)
    same("sdf",guard("sdf",lambda:sdf(sc,p)),w,1e-12)
    same("gsdf",guard("gsdf",lambda:at.grad(sdf,wrt="p")(sc,p)),fd(lambda q:sdf(sc,q),p),1e-5)
    same("sdfl",guard("sdfl",lambda:sdf(sc,np.stack([p,p+1]))),np.array([sdf(sc,p),sdf(sc,p+1)]),1e-12)
@at.record
class P:
    x: f32[n]
    w: f32
    tag: i64
@at.fn
def upd(ps: P, f: at.Fn[[f32],f32]) -> P:
    return P(x=map(f,ps.x)*ps.w, w=ps.w+1, tag=ps.tag*2)
@at.fn
def sqr(x: f32) -> f32:
    return x*x
o=guard("upd",lambda:upd(P(np.arange(3,dtype=np.float32),2.0,7),sqr))
if o is not None: same("upd",(o.x,o.w,o.tag),(np.array([0,2,8],np.float32),np.float32(3),14)); print(o, o.x.dtype, type(o.w))
# portable versions
@at.fn(bits="portable")
def softreg(w: f32[m], X: f32[n,m], y: f32[n]) -> f32:
    z=X@w
    return np.mean(np.log1p(np.exp(-y*z)))+0.01*np.sum(w*w)
r=np.random.default_rng(0)
X=r.normal(size=(1000,7)).astype(np.float32);y=np.sign(r.normal(size=1000)).astype(np.float32);w=r.normal(size=7).astype(np.float32)
g=at.grad(softreg)
vals=[]
for th in (1,2,3,7):
    at.set_threads(th); vals.append((softreg(w,X,y).tobytes(),g(w,X,y).tobytes()))
at.set_threads(2)
print("threads agree",all(v==vals[0] for v in vals))
e=guard("emu",lambda:(softreg.on("cuda-emulated")(w,X[:50],y[:50]).tobytes(),g.on("cuda-emulated")(w,X[:50],y[:50]).tobytes()))
print("emulated agrees",e==(softreg(w,X[:50],y[:50]).tobytes(),g(w,X[:50],y[:50]).tobytes()))
same("portg",g(w,X,y),fd(lambda z:np.mean(np.log1p(np.exp(-y.astype(float)*(X.astype(float)@z))))+.01*np.sum(z*z),w),1e-4)
for N in (0,1,2): 
    with np.errstate(all="ignore"): same(("sr",N),guard("sr",lambda:softreg(w,X[:N],y[:N])),np.mean(np.log1p(np.exp(-y[:N]*(X[:N]@w))))+np.float32(.01)*np.sum(w*w) if N else np.float32(np.nan),1e-5)
for q in ("memory","cost","certificate","assumptions"):
    s=guard(q,lambda:str(getattr(softreg,q)())); print(q,(s or "")[:200].replace("\n"," | "))
for q in ("memory","cost","certificate","assumptions","residuals"):
    s=guard(q,lambda:str(getattr(g,q)())); print("grad",q,(s or "")[:200].replace("\n"," | "))
for f in (rk,solve_decay,sdf,upd):
    for q in ("memory","cost","certificate","assumptions"):
        s=guard((str(f),q),lambda:str(getattr(f,q)())); print(f.type[:20],q,(s or "")[:120].replace("\n"," | "))
done()
