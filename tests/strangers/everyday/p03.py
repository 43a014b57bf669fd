import numpy as np, atoll as at
from atoll import f32,f64,i64,i32
from h import *
n,m,k,nnz,T,s=at.sizes("n m k nnz T s")
@at.fn
def pagerank(indptr: i64[n+1], indices: i64[nnz], d: f64, iters: i64):
    outdeg=np.diff(indptr)
    pr=np.full(n,1.0/n) if n>0 else np.zeros(n)
    it=0
    while it<iters:
        new=np.zeros(n)
        dangling=0.0
        for i in range(n):
            if outdeg[i]==0:
                dangling+=pr[i]
                continue
            share=pr[i]/outdeg[i]
            for p in range(indptr[i],indptr[i+1]):
                new[indices[p]]+=share
        new=(1-d)/n+d*(new+dangling/n)
        err=np.abs(new-pr).sum()
        pr=new
        it+=1
        if err<1e-10:
            break
    return pr, it
def ppr(indptr,indices,d,iters):
    n=len(indptr)-1; od=np.diff(indptr); pr=np.full(n,1/n) if n else np.zeros(0); it=0
    while it<iters:
        new=np.zeros(n); dang=0.
        for i in range(n):
            if od[i]==0: dang+=pr[i]; continue
            sh=pr[i]/od[i]
            for p in range(indptr[i],indptr[i+1]): new[indices[p]]+=sh
        new=(1-d)/max(n,1)+d*(new+dang/max(n,1)); err=np.abs(new-pr).sum(); pr=new; it+=1
        if err<1e-10: break
    return pr,it
r=np.random.default_rng(0)
for N in (0,1,2,31):
    A=(r.uniform(size=(N,N))<.15) if N else np.zeros((0,0),bool)
    ip=np.concatenate([[0],np.cumsum(A.sum(1))]).astype(np.int64); ix=np.nonzero(A)[1].astype(np.int64)
    same(("pr",N),guard(("pr",N),lambda:pagerank(ip,ix,.85,100)),ppr(ip,ix,.85,100),1e-12)
# Viterbi with backtracking
src='''
@at.fn
def viterbi(logA: FF[s,s], logB: FF[s,k], logpi: FF[s], obs: i32[T]):
    assert T > 0
    delta=np.zeros((T,s),dtype=np.NN)
    psi=np.zeros((T,s),dtype=np.int64)
    delta[0]=logpi+logB[:,obs[0]]
    for t in range(1,T):
        for j in range(s):
            cand=delta[t-1]+logA[:,j]
            psi[t,j]=np.argmax(cand)
            delta[t,j]=cand[psi[t,j]]+logB[j,obs[t]]
    path=np.zeros(T,dtype=np.int64)
    path[T-1]=np.argmax(delta[T-1])
    for t in range(T-2,-1,-1):
        path[t]=psi[t+1,path[t+1]]
    return path, np.max(delta[-1])
'''
def pv(A,B,pi,o):
    T=len(o);s=len(pi);d=np.zeros((T,s),A.dtype);ps=np.zeros((T,s),int);d[0]=pi+B[:,o[0]]
    for t in range(1,T):
        for j in range(s):
            c=d[t-1]+A[:,j];ps[t,j]=np.argmax(c);d[t,j]=c[ps[t,j]]+B[j,o[t]]
    p=np.zeros(T,int);p[-1]=np.argmax(d[-1])
    for t in range(T-2,-1,-1): p[t]=ps[t+1,p[t+1]]
    return p,d[-1].max()
for ff,nn in (("f32","float32"),("f64","float64")):
    f=at.fn(source="import numpy as np\nimport atoll as at\nfrom atoll import f32,f64,i32\ns,k,T=at.sizes('s k T')\n"+src.replace("FF",ff).replace("NN",nn))
    for S,K,L in ((1,1,1),(2,3,1),(3,2,2),(5,7,41)):
        A,B,pi=[np.log(r.dirichlet(np.ones(w),S)).astype(nn) for w in (S,K)]+[np.log(r.dirichlet(np.ones(S))).astype(nn)]
        o=r.integers(0,K,L).astype(np.int32)
        same(("vit",ff,S),guard("vit",lambda:f(A,B,pi,o)),pv(A,B,pi,o))
    try: f(A,B,pi,o[:0]); print("no error T=0")
    except at.Error as e: print(str(e).splitlines()[0])
# Kalman + RTS smoother
@at.fn
def rts(F: f64[s,s], H: f64[k,s], Q: f64[s,s], R: f64[k,k], x0: f64[s], P0: f64[s,s], ys: f64[T,k]):
    xs=np.zeros((T,s)); Ps=np.zeros((T,s,s)); xp=np.zeros((T,s)); Pp=np.zeros((T,s,s))
    x=x0; P=P0; ll=0.0
    for t in range(T):
        x=F@x; P=F@P@F.T+Q
        xp[t]=x; Pp[t]=P
        S=H@P@H.T+R
        K=np.linalg.solve(S,H@P).T
        v=ys[t]-H@x
        ll+=-0.5*(v@np.linalg.solve(S,v)+np.linalg.slogdet(S)[1])
        x=x+K@v
        P=P-K@S@K.T
        xs[t]=x; Ps[t]=P
    for t in range(T-2,-1,-1):
        C=Ps[t]@F.T@np.linalg.inv(Pp[t+1])
        xs[t]+=C@(xs[t+1]-xp[t+1])
        Ps[t]+=C@(Ps[t+1]-Pp[t+1])@C.T
    return xs,Ps,ll
def prts(F,H,Q,R,x0,P0,ys):
    T=len(ys);s=len(x0);xs=np.zeros((T,s));Ps=np.zeros((T,s,s));xp=np.zeros((T,s));Pp=np.zeros((T,s,s));x=x0;P=P0;ll=0.
    for t in range(T):
        x=F@x;P=F@P@F.T+Q;xp[t]=x;Pp[t]=P;S=H@P@H.T+R;K=np.linalg.solve(S,H@P).T;v=ys[t]-H@x
        ll+=-0.5*(v@np.linalg.solve(S,v)+np.linalg.slogdet(S)[1]);x=x+K@v;P=P-K@S@K.T;xs[t]=x;Ps[t]=P
    for t in range(T-2,-1,-1):
        C=Ps[t]@F.T@np.linalg.inv(Pp[t+1]);xs[t]+=C@(xs[t+1]-xp[t+1]);Ps[t]+=C@(Ps[t+1]-Pp[t+1])@C.T
    return xs,Ps,ll
F=np.array([[1,.1],[-.1,.95]]);H=np.array([[1.,0.]]);Q=np.eye(2)*.1;R=np.eye(1)*.5
for L in (0,1,2,23):
    ys=r.normal(size=(L,1)); a=(F,H,Q,R,np.zeros(2),np.eye(2),ys)
    same(("rts",L),guard(("rts",L),lambda:rts(*a)),prts(*a),1e-10)
@at.fn
def nll(F: f64[s,s], H: f64[k,s], Q: f64[s,s], R: f64[k,k], x0: f64[s], P0: f64[s,s], ys: f64[T,k]) -> f64:
    xs,Ps,ll=rts(F,H,Q,R,x0,P0,ys)
    return -ll + sum(xs[0]) + Ps[0,0,0]
ys=r.normal(size=(6,1))
def g():
    gF,gQ=at.grad(nll,wrt=("F","Q"))(F,H,Q,R,np.zeros(2),np.eye(2),ys)
    same("gF",gF,fd(lambda q:nll(q,H,Q,R,np.zeros(2),np.eye(2),ys),F),1e-5)
    same("gQ",gQ,fd(lambda q:nll(F,H,q,R,np.zeros(2),np.eye(2),ys),Q),1e-5)
guard("gk",g)
done()
