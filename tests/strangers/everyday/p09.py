import numpy as np, atoll as at, zlib
from atoll import f32,f64,i64,u64,u32,u8,i32
from h import *
n,m,k=at.sizes("n m k"); kk=at.some("kk")
r=np.random.default_rng(0)
# CRC32
@at.fn
def crc(data: u8[n]) -> u32:
    table=np.zeros(256,dtype=np.uint32)
    for i in range(256):
        c=u32(i)
        for _ in range(8):
            c=(c>>1)^u32(0xEDB88320) if c&1==1 else c>>1
        table[i]=c
    v=u32(0xFFFFFFFF)
    for b in data:
        v=table[(v^b)&0xFF]^(v>>8)
    return v^u32(0xFFFFFFFF)
for t in (b"",b"a",b"123456789",bytes(range(256))*3):
    same(("crc",len(t)),guard(("crc",len(t)),lambda:crc(np.frombuffer(t,np.uint8))),np.uint32(zlib.crc32(t)))
# union-find kruskal
@at.fn
def kruskal(u: i64[m], v: i64[m], w: f64[m], nodes: i64):
    parent=np.arange(nodes); rank=np.zeros(nodes,dtype=np.int32)
    order=np.argsort(w,kind="stable")
    total=0.0; used=np.zeros(m,dtype=bool)
    for e in order:
        a=u[e]
        while parent[a]!=a:
            parent[a]=parent[parent[a]]
            a=parent[a]
        b=v[e]
        while parent[b]!=b:
            parent[b]=parent[parent[b]]
            b=parent[b]
        if a!=b:
            if rank[a]<rank[b]:
                a,b=b,a
            parent[b]=a
            if rank[a]==rank[b]:
                rank[a]+=1
            total+=w[e]; used[e]=True
    return total,used
def pk(u,v,w,N):
    p=list(range(N))
    def f(a):
        while p[a]!=a:a=p[a]
        return a
    t=0.;us=np.zeros(len(u),bool)
    for e in np.argsort(w,kind="stable"):
        a,b=f(u[e]),f(v[e])
        if a!=b:p[a]=b;t+=w[e];us[e]=True
    return t,us
for N,M in ((1,0),(2,1),(2,2),(20,60)):
    u,v,w=r.integers(0,N,M),r.integers(0,N,M),r.uniform(size=M)
    same(("kr",N,M),guard("kr",lambda:kruskal(u,v,w,N)),pk(u,v,w,N),1e-12)
# LU partial pivoting in-place w/ row swap
src='''
@at.fn
def lu(A: FF[n,n]):
    p=np.arange(n)
    for c in range(n):
        q=c+np.argmax(np.abs(A[c:,c]))
        if q!=c:
            A[[c,q]]=A[[q,c]]
            p[c],p[q]=p[q],p[c]
        for i in range(c+1,n):
            A[i,c]/=A[c,c]
            A[i,c+1:]-=A[i,c]*A[c,c+1:]
    return A,p
'''
def plu(A):
    A=A.copy();n=len(A);p=np.arange(n)
    for c in range(n):
        q=c+np.argmax(abs(A[c:,c]))
        if q!=c: A[[c,q]]=A[[q,c]];p[c],p[q]=p[q],p[c]
        for i in range(c+1,n): A[i,c]/=A[c,c];A[i,c+1:]-=A[i,c]*A[c,c+1:]
    return A,p
for ff,nt in (("f32",np.float32),("f64",np.float64)):
    f=guard("lu",lambda:at.fn(source="import numpy as np\nimport atoll as at\nfrom atoll import f32,f64\nn=at.sizes('n')\n"+src.replace("FF",ff)))
    if f:
        for N in (0,1,2,3,17):
            A=r.normal(size=(N,N)).astype(nt); same(("lu",ff,N),guard("lu",lambda:f(A)),plu(A),1e-4 if ff=="f32" else 1e-10)
# CG with break/else
@at.fn
def cg(A: f64[n,n], b: f64[n], tol: f64):
    x=np.zeros_like(b); res=b-A@x; p=res.copy(); rs=res@res; it=0
    for itt in range(10*n):
        it=itt
        if np.sqrt(rs)<tol:
            break
        Ap=A@p
        al=rs/(p@Ap)
        x+=al*p
        res-=al*Ap
        new=res@res
        p=res+(new/rs)*p
        rs=new
    else:
        it=-1
    return x,it
for N in (0,1,2,9):
    B=r.normal(size=(N,N));A=B@B.T+np.eye(N)*N;b=r.normal(size=N)
    g=guard(("cg",N),lambda:cg(A,b,1e-12))
    if g: same(("cg",N),g[0],np.linalg.solve(A,b) if N else b,1e-8)
# KMP, base64
@at.fn
def kmp(t: u8[n], p: u8[m]) -> i64[kk]:
    fail=np.zeros(m+1,dtype=np.int64)
    j=0
    for i in range(1,m):
        while j>0 and p[i]!=p[j]:
            j=fail[j]
        if p[i]==p[j]:
            j+=1
        fail[i+1]=j
    hit=np.zeros(n,dtype=bool)
    j=0
    for i in range(n):
        while j>0 and (j==m or t[i]!=p[j]):
            j=fail[j]
        if j<m and t[i]==p[j]:
            j+=1
        if j==m and m>0:
            hit[i-m+1]=True
    return np.flatnonzero(hit)
for t,p in ((b"",b"a"),(b"a",b"a"),(b"abababab",b"abab"),(b"aaaa",b"b"),(b"aaaa",b"aa")):
    same(("kmp",t,p),guard("kmp",lambda:kmp(np.frombuffer(t,np.uint8),np.frombuffer(p,np.uint8))),np.array([i for i in range(len(t)-len(p)+1) if t[i:i+len(p)]==p],np.int64))
# Huffman lengths w/ two min search; sliding median; floyd warshall; knapsack; life
@at.fn
def life(g: at.bool_[n,m], rounds: i64):
    for _ in range(rounds):
        c=sum(np.roll(np.roll(g.astype(np.int64),dy,axis=0),dx,axis=1) for dy in range(-1,2) for dx in range(-1,2) if not (dy==0 and dx==0))
        g=(c==3)|(g&(c==2))
    return g
def pl(g,R):
    for _ in range(R):
        c=sum(np.roll(np.roll(g.astype(int),dy,0),dx,1) for dy in(-1,0,1) for dx in(-1,0,1) if (dy,dx)!=(0,0)); g=(c==3)|(g&(c==2))
    return g
for s in ((1,1),(2,2),(5,7),(16,17)):
    g=r.uniform(size=s)<.4; same(("life",s),guard(("life",s),lambda:life(g,5)),pl(g,5))
@at.fn
def fw(d: f64[n,n]) -> f64[n,n]:
    for q in range(n):
        d=np.minimum(d,d[:,q][:,None]+d[q,:][None,:])
    return d
@at.fn
def knap(w: i64[n], v: f64[n], cap: i64):
    dp=np.zeros(cap+1); take=np.zeros((n,cap+1),dtype=bool)
    for i in range(n):
        for c in range(cap,w[i]-1,-1):
            if dp[c-w[i]]+v[i]>dp[c]:
                dp[c]=dp[c-w[i]]+v[i]; take[i,c]=True
    c=cap; chosen=np.zeros(n,dtype=bool)
    for i in reversed(range(n)):
        if take[i,c]:
            chosen[i]=True; c-=w[i]
    return dp[cap],chosen
def pkn(w,v,cap):
    dp=np.zeros(cap+1);take=np.zeros((len(w),cap+1),bool)
    for i in range(len(w)):
        for c in range(cap,w[i]-1,-1):
            if dp[c-w[i]]+v[i]>dp[c]:dp[c]=dp[c-w[i]]+v[i];take[i,c]=True
    c=cap;ch=np.zeros(len(w),bool)
    for i in reversed(range(len(w))):
        if take[i,c]:ch[i]=True;c-=w[i]
    return dp[cap],ch
for N in (0,1,2,12):
    D=r.uniform(size=(N,N)); E=D.copy()
    for q in range(N): E=np.minimum(E,E[:,q][:,None]+E[q,:][None,:])
    same(("fw",N),guard("fw",lambda:fw(D)),E)
    w,v=r.integers(1,9,N),r.uniform(size=N)
    same(("knap",N),guard("knap",lambda:knap(w,v,20)),pkn(w,v,20))
@at.fn
def knapv(w: i64[n], v: f64[n]) -> f64:
    return knap(w,v,20)[0]
same("gknap",guard("gk",lambda:at.grad(knapv,wrt="v")(w,v)),fd(lambda z:knapv(w,z),v),1e-6)
same("gfw",guard("gfw",lambda:at.vjp(fw,D,np.ones_like(D))),fd(lambda z:fw(z).sum(),D,1e-7),1e-5)
done()
