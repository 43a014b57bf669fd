import numpy as np, atoll as at, heapq
from atoll import f32,f64,i64,u8,i32
from h import *
n,m,k,nnz=at.sizes("n m k nnz"); kk=at.some("kk")
@at.fn
def cross(ox: f64, oy: f64, ax: f64, ay: f64, bx: f64, by: f64) -> f64:
    return (ax-ox)*(by-oy)-(ay-oy)*(bx-ox)
@at.fn
def hull(pts: f64[n,2]) -> f64[kk,2]:
    order=np.lexsort((pts[:,1],pts[:,0]))
    p=pts[order]
    st=np.zeros((2*n+1,2))
    top=0
    for i in range(n):
        while top>=2 and cross(st[top-2,0],st[top-2,1],st[top-1,0],st[top-1,1],p[i,0],p[i,1])<=0:
            top-=1
        st[top]=p[i]; top+=1
    low=top+1
    for i in reversed(range(n-1)):
        while top>=low and cross(st[top-2,0],st[top-2,1],st[top-1,0],st[top-1,1],p[i,0],p[i,1])<=0:
            top-=1
        st[top]=p[i]; top+=1
    cnt=top-1 if n>1 else top
    return st[:cnt]
def phull(pts):
    p=sorted(map(tuple,pts));st=[]
    cr=lambda o,a,b:(a[0]-o[0])*(b[1]-o[1])-(a[1]-o[1])*(b[0]-o[0])
    for q in p:
        while len(st)>=2 and cr(st[-2],st[-1],q)<=0: st.pop()
        st.append(q)
    low=len(st)+1
    for q in reversed(p[:-1]):
        while len(st)>=low and cr(st[-2],st[-1],q)<=0: st.pop()
        st.append(q)
    return np.array(st[:-1] if len(p)>1 else st).reshape(-1,2)
r=np.random.default_rng(0)
for N in (1,2,3,50):
    P=r.normal(size=(N,2)); same(("hull",N),guard(("hull",N),lambda:hull(P)),phull(P))
P=r.integers(0,4,(30,2)).astype(float); same("hulldup",guard("h",lambda:hull(P)),phull(P))
print("n=0:",guard("hull0",lambda:hull(np.zeros((0,2)))))
# dijkstra w binary heap; decrease by lazy deletion
@at.fn
def dijkstra(indptr: i64[n+1], idx_: i64[nnz], w: f64[nnz], src: i64):
    dist=np.full(n,np.inf); prev=np.full(n,-1)
    hk=np.zeros(nnz+1); hv=np.zeros(nnz+1,dtype=np.int64)
    size=1; dist[src]=0.0; hv[0]=src
    while size>0:
        d=hk[0]; u=hv[0]
        size-=1
        hk[0]=hk[size]; hv[0]=hv[size]
        i=0
        while True:
            l=2*i+1; s=i
            if l<size and hk[l]<hk[s]: s=l
            if l+1<size and hk[l+1]<hk[s]: s=l+1
            if s==i: break
            hk[i],hk[s]=hk[s],hk[i]
            hv[i],hv[s]=hv[s],hv[i]
            i=s
        if d>dist[u]: continue
        for p in range(indptr[u],indptr[u+1]):
            v=idx_[p]; nd=d+w[p]
            if nd<dist[v]:
                dist[v]=nd; prev[v]=u
                j=size; hk[j]=nd; hv[j]=v; size+=1
                while j>0 and hk[(j-1)//2]>hk[j]:
                    q=(j-1)//2
                    hk[j],hk[q]=hk[q],hk[j]
                    hv[j],hv[q]=hv[q],hv[j]
                    j=q
    return dist,prev
def pd(ip,ix,w,s):
    n=len(ip)-1;d=np.full(n,np.inf);pv=np.full(n,-1);d[s]=0;h=[(0.,s)]
    while h:
        a,u=heapq.heappop(h)
        if a>d[u]:continue
        for p in range(ip[u],ip[u+1]):
            v=ix[p]
            if a+w[p]<d[v]:d[v]=a+w[p];pv[v]=u;heapq.heappush(h,(d[v],v))
    return d,pv
for N in (1,2,40):
    A=r.uniform(size=(N,N))<.12; ip=np.concatenate([[0],np.cumsum(A.sum(1))]).astype(np.int64);ix=np.nonzero(A)[1].astype(np.int64);w=r.uniform(size=len(ix))
    same(("dij",N),guard("dij",lambda:dijkstra(ip,ix,w,0)),pd(ip,ix,w,0))
print("dij memory",dijkstra.memory())
@at.fn
def total(indptr: i64[n+1], ii: i64[nnz], w: f64[nnz]) -> f64:
    d,_=dijkstra(indptr,ii,w,0)
    return sum(v for v in d if v<inf)
same("gdij",guard("gdij",lambda:at.grad(total,wrt="w")(ip,ix,w)),fd(lambda z:total(ip,ix,z),w),1e-5)
guard("res",lambda:print(at.grad(total,wrt="w").residuals()))
# cholesky by hand
@at.fn
def chol(A: f64[n,n]) -> f64[n,n]:
    L=np.zeros_like(A)
    for j in range(n):
        s=A[j,j]-sum(L[j,p]**2 for p in range(j))
        assert s>0, f"not positive definite at {j}: {s}"
        L[j,j]=sqrt(s)
        for i in range(j+1,n):
            L[i,j]=(A[i,j]-np.dot(L[i,:j],L[j,:j]))/L[j,j]
    return L
@at.fn
def cholsolve(A: f64[n,n], b: f64[n]) -> f64[n]:
    L=chol(A)
    y=np.zeros(n)
    for i in range(n):
        y[i]=(b[i]-L[i,:i]@y[:i])/L[i,i]
    x=np.zeros(n)
    for i in range(n-1,-1,-1):
        x[i]=(y[i]-L[i+1:,i]@x[i+1:])/L[i,i]
    return x
@at.fn
def obj(A: f64[n,n], b: f64[n]) -> f64:
    return sum(cholsolve(A,b)**2)
for N in (0,1,2,3,12):
    B=r.normal(size=(N,N));A=B@B.T+N*np.eye(N);b=r.normal(size=N)
    same(("chol",N),guard("c",lambda:cholsolve(A,b)),np.linalg.solve(A,b) if N else np.zeros(0),1e-9)
A=A[:5,:5];b=b[:5]
def g():
    a,c=at.grad(obj,wrt=("A","b"))(A,b)
    x=np.linalg.solve(A,b);l=np.linalg.solve(A.T,2*x)
    same("gb",c,l,1e-8)
    G=-np.outer(l,x); # lower-triangle only is read
    G=np.tril(G+G.T,-1)+np.diag(np.diag(G)); same("gA",a,G,1e-8)
guard("gch",g)
guard("notpd",lambda:chol(-np.eye(2)))
# GP likelihood
@at.fn
def gp(theta: f64[3], X: f64[n,m], y: f64[n]) -> f64:
    ls,sf,sn=np.exp(theta[0]),np.exp(theta[1]),np.exp(theta[2])
    d2=np.sum((X[:,None,:]-X[None,:,:])**2,axis=-1)
    K=sf**2*np.exp(-0.5*d2/ls**2)+sn**2*np.eye(n)
    L=np.linalg.cholesky(K)
    al=np.linalg.solve(K,y)
    return 0.5*y@al+np.sum(np.log(np.diag(L)))+0.5*n*np.log(2*np.pi)
def pgp(t,X,y):
    ls,sf,sn=np.exp(t);d2=((X[:,None]-X[None])**2).sum(-1);K=sf**2*np.exp(-.5*d2/ls**2)+sn**2*np.eye(len(y))
    return .5*y@np.linalg.solve(K,y)+.5*np.linalg.slogdet(K)[1]+.5*len(y)*np.log(2*np.pi)
th=np.array([.1,-.2,-1.])
for N in (0,1,2,15):
    X=r.normal(size=(N,2));y=r.normal(size=N)
    same(("gp",N),guard("gp",lambda:gp(th,X,y)),pgp(th,X,y),1e-9)
    same(("ggp",N),guard("ggp",lambda:at.grad(gp)(th,X,y)),fd(lambda z:pgp(z,X,y),th),1e-5)
same("gX",guard("gX",lambda:at.grad(gp,wrt="X")(th,X,y)),fd(lambda z:pgp(th,z,y),X),1e-5)
same("hgp",guard("hgp",lambda:at.hessian(gp)(th,X,y)),np.array([(at.grad(gp)(th+e,X,y)-at.grad(gp)(th-e,X,y))/2e-5 for e in 1e-5*np.eye(3)]),1e-4)
done()
