import numpy as np, atoll as at
from atoll import f32,f64,i64,u64,u32,u8,i32
from h import *
n,m,k,t,hh=at.sizes("n m k t hh"); kk=at.some("kk")
r=np.random.default_rng(0)
# LSTM as record params, grad
@at.record
class L:
    W: f64[4*hh,m+hh]
    b: f64[4*hh]
@at.fn
def sig(x: f64) -> f64:
    return 1/(1+np.exp(-x))
@at.fn
def lstm(p: L, xs: f64[t,m]) -> f64:
    h=np.zeros(hh); c=np.zeros(hh); tot=0.0
    for i in range(t):
        z=p.W@np.concatenate([xs[i],h])+p.b
        f,g,o,u=sig(z[:hh]),sig(z[hh:2*hh]),sig(z[2*hh:3*hh]),np.tanh(z[3*hh:])
        c=f*c+g*u
        h=o*np.tanh(c)
        tot+=h@h
    return tot
def pls(W,b,xs):
    hh=len(b)//4;h=np.zeros(hh);c=np.zeros(hh);tot=0;s=lambda x:1/(1+np.exp(-x))
    for x in xs:
        z=W@np.concatenate([x,h])+b;c=s(z[:hh])*c+s(z[hh:2*hh])*np.tanh(z[3*hh:]);h=s(z[2*hh:3*hh])*np.tanh(c);tot+=h@h
    return tot
for T,M,H in ((0,2,1),(1,1,1),(4,3,2)):
    W,b,xs=r.normal(size=(4*H,M+H)),r.normal(size=4*H),r.normal(size=(T,M))
    same(("lstm",T),guard("lstm",lambda:lstm(L(W,b),xs)),pls(W,b,xs),1e-12)
    def go():
        g=at.grad(lstm)(L(W,b),xs); same("gW",g.W,fd(lambda z:pls(z,b,xs),W),1e-6); same("gb",g.b,fd(lambda z:pls(W,z,xs),b),1e-6)
        same("gx",at.grad(lstm,wrt="xs")(L(W,b),xs),fd(lambda z:pls(W,b,z),xs),1e-6)
    guard(("glstm",T),go)
# kmeans w/ while convergence & empty clusters
@at.fn
def kmeans(X: f64[n,m], C: f64[k,m], maxit: i64):
    lab=np.zeros(n,dtype=np.int64)
    it=0
    while it<maxit:
        d=((X[:,None,:]-C[None,:,:])**2).sum(axis=2)
        new=d.argmin(axis=1)
        cnt=hist(add,0,k,new,[1 for _ in range(n)])
        s=np.zeros((k,m))
        np.add.at(s,new,X)
        C=np.where(cnt[:,None]>0,s/np.maximum(cnt,1)[:,None],C)
        it+=1
        if it>1 and np.array_equal(new,lab):
            break
        lab=new
    return C,lab,it
def pkm(X,C,maxit):
    lab=np.zeros(len(X),int);it=0
    while it<maxit:
        new=((X[:,None]-C[None])**2).sum(2).argmin(1);cnt=np.bincount(new,minlength=len(C));s=np.zeros_like(C);np.add.at(s,new,X)
        C=np.where(cnt[:,None]>0,s/np.maximum(cnt,1)[:,None],C);it+=1
        if it>1 and np.array_equal(new,lab):break
        lab=new
    return C,lab,it
for N,M,K in ((0,2,2),(1,1,1),(2,2,3),(50,2,4)):
    X=r.normal(size=(N,M));C=r.normal(size=(K,M)); same(("km",N),guard(("km",N),lambda:kmeans(X,C,20)),pkm(X,C,20),1e-10)
# Crank-Nicolson heat with grad wrt initial condition & diffusivity; f32
src='''
@at.fn(OPT)
def heat(u: FF[n], al: FF, steps: i64) -> FF:
    assert n >= 3
    for _ in range(steps):
        d=np.zeros(n,dtype=np.NN); cp=np.zeros(n,dtype=np.NN)
        d[1:-1]=u[1:-1]+al*(u[2:]-2*u[1:-1]+u[:-2])
        for i in range(1,n-1):
            den=1+2*al+al*cp[i-1]
            cp[i]=-al/den
            d[i]=(d[i]+al*d[i-1])/den
        for i in range(n-2,0,-1):
            u[i]=d[i]-cp[i]*u[i+1]
        u[0]=0.0
        u[-1]=0.0
    return np.sum(u*u)
'''
for ff,nn in (("f64","float64"),("f32","float32")):
  for opt in ("",'bits="portable"'):
    f=guard("heat",lambda:at.fn(source="import numpy as np\nimport atoll as at\nfrom atoll import f32,f64,i64\nn=at.sizes('n')\n"+src.replace("FF",ff).replace("NN",nn).replace("(OPT)","("+opt+")" if opt else "")))
    for N in (3,4,11):
        u=r.normal(size=N).astype(nn);u[0]=u[-1]=0
        def go():
            e=1e-6 if ff=="f64" else 1e-2
            T=np.dtype(nn).type
            g=at.grad(f,wrt=("u","al"))(u,T(.3),4)
            same((ff,opt,N),g[0],fd(lambda z:float(f(z.astype(nn),T(.3),4)),u,e),1e-5 if ff=="f64" else 3e-2)
            same((ff,opt,N,"al"),g[1],(float(f(u,T(.3+e),4))-float(f(u,T(.3-e),4)))/(2*e),1e-5 if ff=="f64" else 3e-2)
        guard(("heat",ff,N),go)
    if opt:
        a=[]
        for th in (1,3): at.set_threads(th); a.append(np.asarray(at.grad(f)(u,T_(.3) if False else np.dtype(nn).type(.3),4)).tobytes())
        at.set_threads(2)
        e=guard("emu",lambda:at.grad(f).on("cuda-emulated")(u,np.dtype(nn).type(.3),4))
        print("portable heat",ff,a[0]==a[1], e is not None and e.tobytes()==a[0])
    guard("r",lambda:print(at.grad(f).residuals()))
    guard("c",lambda:(at.grad(f).certificate().check(),at.grad(f).cost(n=10,steps=3),at.grad(f).memory(n=10)))
# closures chosen at run time, fn returning fn, fold with tuple state, generic
a_,b_=at.types("a_ b_")
@at.fn
def compose(fs: at.Fn[[f64],f64], gs: at.Fn[[f64],f64]) -> at.Fn[[f64],f64]:
    return lambda x: fs(gs(x))
@at.fn
def pick(x: f64[n], c: i64) -> f64[n]:
    f=compose(sin,exp) if c==0 else compose(exp,sin)
    return [f(v) for v in x]
for c in (0,1): same(("pick",c),guard("pick",lambda:pick(np.arange(3.)/3,c)),(lambda x:np.sin(np.exp(x)) if c==0 else np.exp(np.sin(x)))(np.arange(3.)/3),1e-12)
@at.fn
def pickl(x: f64[n], c: i64) -> f64:
    return sum(pick(x,c))
same("gpick",guard("gp",lambda:at.grad(pickl)(np.arange(3.)/3,1)),fd(lambda z:pickl(z,1),np.arange(3.)/3),1e-6)
@at.fn
def welford(x: f64[n]):
    def step(s, v):
        c,mu,m2=s
        c=c+1; d=v-mu; mu=mu+d/c
        return c,mu,m2+d*(v-mu)
    return fold(step,(0,0.0,0.0),x)
for N in (0,1,2,50):
    x=r.normal(size=N); g=guard("w",lambda:welford(x))
    if g: same(("welf",N),g,(N,x.mean() if N else 0.,x.var()*N if N else 0.),1e-10)
done()
