import numpy as np, atoll as at
from atoll import f32,f64,i64,u64
from h import *
n,m,k,t,d=at.sizes("n m k t d")
HDR="import numpy as np\nimport atoll as at\nfrom atoll import f32,f64,i64,u64\nt,d=at.sizes('t d')\n"
src='''
@at.fn(OPT)
def attn(Q: FF[t,d], K: FF[t,d], V: FF[t,d]) -> FF[t,d]:
    S=Q@K.T/np.sqrt(FF(d))
    mask=np.tril(np.ones((t,t)))>0
    S=np.where(mask,S,-np.inf)
    S=S-S.max(axis=1,keepdims=True)
    P=np.exp(S)
    P=P/P.sum(axis=1,keepdims=True)
    return P@V
'''
def pat(Q,K,V):
    S=Q@K.T/np.sqrt(Q.dtype.type(Q.shape[1]));t=len(Q)
    S=np.where(np.tril(np.ones((t,t)))>0,S,-np.inf).astype(Q.dtype)
    if t==0: return np.zeros_like(V)
    S=S-S.max(1,keepdims=True);P=np.exp(S);P=P/P.sum(1,keepdims=True);return P@V
r=np.random.default_rng(0)
for ff,nt in (("f32",np.float32),("f64",np.float64)):
    for opt in ("",'bits="portable"'):
        f=guard("def",lambda:at.fn(source=HDR+src.replace("FF",ff).replace("(OPT)","("+opt+")" if opt else "")))
        if f is None: continue
        for L,D in ((0,3),(1,1),(2,3),(13,5)):
            Q,K,V=[r.normal(size=(L,D)).astype(nt) for _ in range(3)]
            got=guard(("attn",ff,opt,L),lambda:f(Q,K,V))
            same(("attn",ff,opt,L),got,pat(Q,K,V),1e-5 if ff=="f32" else 1e-12)
        if opt:
            at.set_threads(1); a=f(Q,K,V); at.set_threads(3); b=f(Q,K,V); at.set_threads(2)
            same("thr",a,b)
            same("emu",guard("emu",lambda:f.on("cuda-emulated")(Q,K,V)),a)
            same("int",guard("int",lambda:f.interpret(Q,K,V)),a)
@at.fn
def att(Q: f64[t,d], K: f64[t,d], V: f64[t,d]) -> f64[t,d]:
    S=Q@K.T/np.sqrt(d)
    S=np.where(np.tril(np.ones((t,t)))>0,S,-np.inf)
    P=np.exp(S-S.max(axis=1,keepdims=True))
    return (P/P.sum(axis=1,keepdims=True))@V
@at.fn
def loss(Q: f64[t,d], K: f64[t,d], V: f64[t,d]) -> f64:
    return np.sum(att(Q,K,V)**2)
for L,D in ((1,1),(2,3),(5,4)):
    a=[r.normal(size=(L,D)) for _ in range(3)]
    def go():
        g=at.grad(loss,wrt=(0,1,2))(*a)
        for i in range(3):
            same(("gatt",L,i),g[i],fd(lambda z:loss(*[z if j==i else a[j] for j in range(3)]),a[i]),1e-5)
    guard(("gatt",L),go)
guard("r",lambda:print(at.grad(loss,wrt=(0,1,2)).residuals()))
guard("c",lambda:print(at.grad(loss).certificate().check(), at.grad(loss).assumptions()[:200]))
# multi-head via batches, mask argument bool, rank lifting from python
B=[r.normal(size=(2,3,6,4)) for _ in range(3)]
same("lift",guard("lift",lambda:att(*B)),np.stack([[pat(B[0][i,j],B[1][i,j],B[2][i,j]) for j in range(3)] for i in range(2)]),1e-12)
# Monte Carlo
@at.fn
def mcpi(key: u64, N: i64) -> f64:
    xy=at.random.uniform(key,(N,2))
    return 4*np.mean(np.sum(xy**2,axis=1)<=1)
v=guard("mc",lambda:mcpi(at.random.key(3),200000)); print("pi",v)
xy=at.random.uniform(at.random.key(3),(2000,2)); same("mc2",guard("m",lambda:mcpi(at.random.key(3),2000)),4*np.mean((xy**2).sum(1)<=1),1e-13)
@at.fn
def asian(key: u64, s0: f64, vol: f64, paths: i64, steps: i64) -> f64:
    dt=1.0/steps
    z=at.random.normal(key,(paths,steps))
    lr=np.cumsum((0.02-0.5*vol**2)*dt+vol*np.sqrt(dt)*z,axis=1)
    avg=np.mean(s0*np.exp(lr),axis=1)
    return np.exp(-0.02)*np.mean(np.maximum(avg-100.0,0.0))
key=at.random.key(5)
z=at.random.normal(key,(500,12))
def pas(s0,vol): 
    dt=1/12; lr=np.cumsum((.02-.5*vol**2)*dt+vol*np.sqrt(dt)*z,axis=1); return np.exp(-.02)*np.maximum((s0*np.exp(lr)).mean(1)-100,0).mean()
same("asian",guard("as",lambda:asian(key,100.,.2,500,12)),pas(100.,.2),1e-10)
same("greeks",guard("gr",lambda:at.grad(asian,wrt=("s0","vol"))(key,100.,.2,500,12)),((pas(100.001,.2)-pas(99.999,.2))/.002,(pas(100.,.2001)-pas(100.,.1999))/.0002),1e-3)
print("0 paths",guard("as0",lambda:asian(key,100.,.2,0,12)))
@at.fn
def metropolis(key: u64, N: i64, x0: f64):
    x=x0; acc=0; out=np.zeros(N)
    for i in range(N):
        k1,k2=at.random.split(at.random.fold_in(key,i))
        prop=x+at.random.normal(k1,())
        if log(at.random.uniform(k2,()))<0.5*(x*x-prop*prop):
            x=prop; acc+=1
        out[i]=x
    return out,acc
def pm(key,N,x):
    o=[];acc=0
    for i in range(N):
        k1,k2=at.random.split(at.random.fold_in(key,i)); p=x+at.random.normal(k1,())
        if np.log(at.random.uniform(k2,()))<.5*(x*x-p*p): x=p;acc+=1
        o.append(x)
    return np.array(o),acc
same("metro",guard("me",lambda:metropolis(key,20,0.3)),guard("pm",lambda:pm(key,20,.3)),1e-12)
done()
