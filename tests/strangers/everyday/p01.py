import numpy as np, atoll as at
from atoll import f32,f64,i64,u8,i32
from h import *
n,m=at.sizes("n m")
def py(img, lo, hi, T):
    n,m=img.shape
    gx=np.zeros((n,m),T); gy=np.zeros((n,m),T)
    for i in range(1,n-1):
        for j in range(1,m-1):
            gx[i,j]=(img[i-1,j+1]+2*img[i,j+1]+img[i+1,j+1])-(img[i-1,j-1]+2*img[i,j-1]+img[i+1,j-1])
            gy[i,j]=(img[i+1,j-1]+2*img[i+1,j]+img[i+1,j+1])-(img[i-1,j-1]+2*img[i-1,j]+img[i-1,j+1])
    mag=abs(gx)+abs(gy)
    nms=np.zeros((n,m),T)
    for i in range(1,n-1):
        for j in range(1,m-1):
            ax=abs(gx[i,j]);ay=abs(gy[i,j])
            if ax>2*ay: a,b=mag[i,j-1],mag[i,j+1]
            elif ay>2*ax: a,b=mag[i-1,j],mag[i+1,j]
            elif gx[i,j]*gy[i,j]>0: a,b=mag[i-1,j-1],mag[i+1,j+1]
            else: a,b=mag[i-1,j+1],mag[i+1,j-1]
            if mag[i,j]>=a and mag[i,j]>=b: nms[i,j]=mag[i,j]
    out=np.zeros((n,m),np.uint8)
    stack=np.zeros(n*m,np.int64); top=0
    for i in range(n):
        for j in range(m):
            if nms[i,j]>=hi:
                out[i,j]=255; stack[top]=i*m+j; top+=1
    while top>0:
        top-=1
        p=stack[top]; i=p//m; j=p%m
        for di in range(-1,2):
            for dj in range(-1,2):
                y=i+di;x=j+dj
                if y<0 or y>=n or x<0 or x>=m: continue
                if out[y,x]==0 and nms[y,x]>=lo:
                    out[y,x]=255; stack[top]=y*m+x; top+=1
    return out, nms
src='''
@at.fn
def canny_T(img: T[n,m], lo: T, hi: T):
    gx=zeros((n,m),dtype=T); gy=zeros((n,m),dtype=T)
    for i in range(1,n-1):
        for j in range(1,m-1):
            gx[i,j]=(img[i-1,j+1]+2*img[i,j+1]+img[i+1,j+1])-(img[i-1,j-1]+2*img[i,j-1]+img[i+1,j-1])
            gy[i,j]=(img[i+1,j-1]+2*img[i+1,j]+img[i+1,j+1])-(img[i-1,j-1]+2*img[i-1,j]+img[i-1,j+1])
    mag=abs(gx)+abs(gy)
    nms=zeros((n,m),dtype=T)
    for i in range(1,n-1):
        for j in range(1,m-1):
            ax=abs(gx[i,j]);ay=abs(gy[i,j])
            if ax>2*ay:
                a,b=mag[i,j-1],mag[i,j+1]
            elif ay>2*ax:
                a,b=mag[i-1,j],mag[i+1,j]
            elif gx[i,j]*gy[i,j]>0:
                a,b=mag[i-1,j-1],mag[i+1,j+1]
            else:
                a,b=mag[i-1,j+1],mag[i+1,j-1]
            if mag[i,j]>=a and mag[i,j]>=b: nms[i,j]=mag[i,j]
    out=np.zeros((n,m),np.uint8)
    stack=np.zeros(n*m,np.int64); top=0
    for i in range(n):
        for j in range(m):
            if nms[i,j]>=hi:
                out[i,j]=255; stack[top]=i*m+j; top+=1
    while top>0:
        top-=1
        p=stack[top]; i=p//m; j=p%m
        for di in range(-1,2):
            for dj in range(-1,2):
                y=i+di;x=j+dj
                if y<0 or y>=n or x<0 or x>=m: continue
                if out[y,x]==0 and nms[y,x]>=lo:
                    out[y,x]=255; stack[top]=y*m+x; top+=1
    return out, nms
'''
for T,nt in (("f32",np.float32),("f64",np.float64)):
    d=dict(globals())
    f=guard("def",lambda: at.fn(source="import numpy as np\nimport atoll as at\nfrom atoll import f32,f64,u8,i64\nn,m=at.sizes('n m')\n"+src.replace("T[","%s["%T).replace(": T",": "+T).replace("dtype=T","dtype="+T)))
    if f is None: continue
    r=np.random.default_rng(1)
    for s in ((0,0),(0,3),(1,1),(2,2),(2,5),(3,3),(7,13),(17,16)):
        img=(r.integers(0,256,s)).astype(nt)
        same(("canny",T,s),guard(("canny",T,s),lambda:f(img,nt(200),nt(700))),py(img,200,700,nt))
    print(f.memory()); 
    guard("cost",lambda:f.cost(n=10,m=10)); guard("cert",lambda:f.certificate().check()); guard("ass",lambda:f.assumptions())
done()
