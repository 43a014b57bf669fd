import numpy as np, atoll as at
from atoll import f32,f64,i64,u8,i32
from h import *
n,m,k=at.sizes("n m k"); kk=at.some("kk")
# natural cubic spline (Thomas) + eval by searchsorted
@at.fn
def spline(xk: f64[n], yk: f64[n], q: f64[m]) -> f64[m]:
    assert n >= 2
    h=np.diff(xk)
    M=np.zeros(n); cp=np.zeros(n); dp=np.zeros(n)
    for i in range(1,n-1):
        rhs=6*((yk[i+1]-yk[i])/h[i]-(yk[i]-yk[i-1])/h[i-1])
        den=2*(h[i-1]+h[i])-h[i-1]*cp[i-1]
        cp[i]=h[i]/den
        dp[i]=(rhs-h[i-1]*dp[i-1])/den
    for i in range(n-2,0,-1):
        M[i]=dp[i]-cp[i]*M[i+1]
    j=np.clip(np.searchsorted(xk,q,side="right")-1,0,n-2)
    t=q-xk[j]
    hj=h[j]
    b=(yk[j+1]-yk[j])/hj-hj*(2*M[j]+M[j+1])/6
    return yk[j]+t*(b+t*(M[j]/2+t*(M[j+1]-M[j])/(6*hj)))
def pspl(xk,yk,q):
    n=len(xk);h=np.diff(xk);M=np.zeros(n)
    if n>2:
        A=np.zeros((n-2,n-2));b=np.zeros(n-2)
        for i in range(1,n-1):
            A[i-1,i-1]=2*(h[i-1]+h[i])
            if i>1:A[i-1,i-2]=h[i-1]
            if i<n-2:A[i-1,i]=h[i]
            b[i-1]=6*((yk[i+1]-yk[i])/h[i]-(yk[i]-yk[i-1])/h[i-1])
        M[1:-1]=np.linalg.solve(A,b)
    j=np.clip(np.searchsorted(xk,q,side="right")-1,0,n-2);t=q-xk[j];hj=h[j]
    b=(yk[j+1]-yk[j])/hj-hj*(2*M[j]+M[j+1])/6
    return yk[j]+t*(b+t*(M[j]/2+t*(M[j+1]-M[j])/(6*hj)))
r=np.random.default_rng(0)
for N,Mq in ((2,0),(2,1),(3,5),(17,40)):
    xk=np.sort(r.uniform(size=N))*10;yk=r.normal(size=N);q=r.uniform(-1,11,Mq)
    same(("spl",N),guard("spl",lambda:spline(xk,yk,q)),pspl(xk,yk,q),1e-10)
@at.fn
def sq(xk: f64[n], yk: f64[n], q: f64[m]) -> f64:
    return np.sum(spline(xk,yk,q)**2)
xk=np.sort(r.uniform(size=6));yk=r.normal(size=6);q=r.uniform(0,1,5)
def g():
    a,b,c=at.grad(sq,wrt=(0,1,2))(xk,yk,q)
    same("gx",a,fd(lambda z:sq(z,yk,q),xk),1e-4);same("gy",b,fd(lambda z:sq(xk,z,q),yk),1e-5);same("gq",c,fd(lambda z:sq(xk,yk,z),q),1e-5)
guard("gspl",g)
# quadtree via arrays: insertion
@at.fn
def quadtree(px: f64[n], py: f64[n], cap: i64):
    child=np.full((cap,4),-1)
    point=np.full(cap,-1)
    nodes=1
    for p in range(n):
        node=0; cx=0.5; cy=0.5; half=0.25; depth=0
        moving=-1
        while True:
            if child[node,0]<0 and point[node]<0:
                point[node]=p
                break
            if child[node,0]<0:
                if depth>=40 or nodes+4>cap:
                    break
                old=point[node]
                point[node]=-1
                for q in range(4):
                    child[node,q]=nodes+q
                nodes+=4
                qo=(1 if px[old]>=cx else 0)+(2 if py[old]>=cy else 0)
                point[child[node,qo]]=old
            q=(1 if px[p]>=cx else 0)+(2 if py[p]>=cy else 0)
            cx+=half if q%2==1 else -half
            cy+=half if q//2==1 else -half
            half*=0.5
            node=child[node,q]
            depth+=1
    return child,point,nodes
def pq(px,py,cap):
    child=np.full((cap,4),-1);point=np.full(cap,-1);nodes=1
    for p in range(len(px)):
        node=0;cx=cy=.5;half=.25;depth=0
        while True:
            if child[node,0]<0 and point[node]<0: point[node]=p;break
            if child[node,0]<0:
                if depth>=40 or nodes+4>cap: break
                old=point[node];point[node]=-1
                for q in range(4): child[node,q]=nodes+q
                nodes+=4
                qo=(1 if px[old]>=cx else 0)+(2 if py[old]>=cy else 0);point[child[node,qo]]=old
            q=(1 if px[p]>=cx else 0)+(2 if py[p]>=cy else 0)
            cx+=half if q%2==1 else -half;cy+=half if q//2==1 else -half;half*=.5;node=child[node,q];depth+=1
    return child,point,nodes
for N in (0,1,2,60):
    a=r.uniform(size=N),r.uniform(size=N)
    same(("qt",N),guard("qt",lambda:quadtree(*a,400)),pq(*a,400))
# LZ77
@at.fn
def lz77(data: u8[n], win: i64) -> (i64[kk],i64[kk],u8[kk]):
    off=np.zeros(n,dtype=np.int64); ln=np.zeros(n,dtype=np.int64); nxt=np.zeros(n,dtype=np.uint8)
    c=0; i=0
    while i<n:
        best=0; bo=0
        j=max(0,i-win)
        while j<i:
            l=0
            while i+l<n-1 and data[j+l]==data[i+l] and l<255:
                l+=1
            if l>best:
                best=l; bo=i-j
            j+=1
        off[c]=bo; ln[c]=best; nxt[c]=data[i+best]
        c+=1
        i+=best+1
    return off[:c],ln[:c],nxt[:c]
def plz(data,win):
    n=len(data);o=[];L=[];N=[];i=0
    while i<n:
        best=bo=0
        for j in range(max(0,i-win),i):
            l=0
            while i+l<n-1 and data[j+l]==data[i+l] and l<255:l+=1
            if l>best:best=l;bo=i-j
        o.append(bo);L.append(best);N.append(data[i+best]);i+=best+1
    return np.array(o,np.int64),np.array(L,np.int64),np.array(N,np.uint8)
for t in (b"",b"a",b"aa",b"abracadabra abracadabra aaaaaaaaaaaaab"*3):
    d=np.frombuffer(t,np.uint8)
    same(("lz",len(t)),guard("lz",lambda:lz77(d,32)),plz(d,32))
# tokenizer
@at.fn
def tokens(s: u8[n]):
    start=np.zeros(n,dtype=np.int32); end=np.zeros(n,dtype=np.int32); kind=np.zeros(n,dtype=np.int8)
    state=0; cnt=0; b=0
    for i in range(n+1):
        ch=s[i] if i<n else u8(32)
        isd=48<=ch<=57
        isa=(97<=ch<=122) or (65<=ch<=90) or ch==95
        match state:
            case 0:
                if isd:
                    state=1; b=i
                elif isa:
                    state=2; b=i
                elif ch!=32:
                    start[cnt]=i32(i); end[cnt]=i32(i+1); kind[cnt]=3; cnt+=1
            case 1:
                if not isd:
                    start[cnt]=i32(b); end[cnt]=i32(i); kind[cnt]=1; cnt+=1
                    state=0
                    if isa:
                        state=2; b=i
                    elif ch!=32:
                        start[cnt]=i32(i); end[cnt]=i32(i+1); kind[cnt]=3; cnt+=1
            case _:
                if not (isa or isd):
                    start[cnt]=i32(b); end[cnt]=i32(i); kind[cnt]=2; cnt+=1
                    state=0
                    if ch!=32:
                        start[cnt]=i32(i); end[cnt]=i32(i+1); kind[cnt]=3; cnt+=1
    return start[:cnt],end[:cnt],kind[:cnt]
import re
def ptok(t):
    a=[(x.start(),x.end(),1 if x.lastgroup=="d" else 2 if x.lastgroup=="a" else 3) for x in re.finditer(r"(?P<d>[0-9]+)|(?P<a>[A-Za-z_][A-Za-z0-9_]*)|(?P<o>[^ ])",t)]
    return tuple(np.array([q[c] for q in a],[np.int32,np.int32,np.int8][c]) for c in range(3))
for t in ("","a","1","x1 = 23+yy_2*(4-foo)","  12ab  ","+-"):
    same(("tok",t),guard(("tok",t),lambda:tokens(np.frombuffer(t.encode(),np.uint8))),ptok(t))
# levenshtein
@at.fn
def lev(a: u8[n], b: u8[m]) -> i64:
    prev=np.arange(m+1)
    for i in range(n):
        cur=np.zeros(m+1,dtype=np.int64)
        cur[0]=i+1
        for j in range(m):
            cost=0 if a[i]==b[j] else 1
            cur[j+1]=min(prev[j+1]+1,cur[j]+1,prev[j]+cost)
        prev=cur
    return prev[m]
def plev(a,b):
    p=list(range(len(b)+1))
    for i,x in enumerate(a):
        c=[i+1]
        for j,y in enumerate(b): c.append(min(p[j+1]+1,c[j]+1,p[j]+(x!=y)))
        p=c
    return p[-1]
for a,b in ((b"",b""),(b"a",b""),(b"",b"ab"),(b"kitten",b"sitting"),(b"intention"*5,b"execution"*4)):
    same(("lev",a),guard("lev",lambda:lev(np.frombuffer(a,np.uint8),np.frombuffer(b,np.uint8))),plev(a,b))
print(lev.memory()); print(lev.cost(n=10,m=10)); print(lz77.memory())
done()
