import numpy as np, traceback
OK=[0]
def same(name, got, want, tol=0):
    g=got if isinstance(got,tuple) else (got,); w=want if isinstance(want,tuple) else (want,)
    good=len(g)==len(w)
    for a,b in zip(g,w):
        a=np.asarray(a); b=np.asarray(b)
        if a.shape!=b.shape: good=False; break
        if tol==0: good&=bool(np.array_equal(a,b,equal_nan=a.dtype.kind in 'fc'))
        else: good&=bool(np.allclose(a,b,rtol=tol,atol=tol,equal_nan=True))
    if good: OK[0]+=1
    else: print("MISMATCH",name,"\n got",got,"\n want",want)
def guard(name, thunk):
    try: return thunk()
    except Exception as e:
        print("EXC",name,type(e).__name__,str(e)[:1500])
def fd(f,x,eps=1e-6):
    x=np.array(x,float); g=np.zeros_like(x)
    for i in np.ndindex(x.shape):
        a=x.copy();a[i]+=eps;b=x.copy();b[i]-=eps
        g[i]=(f(a)-f(b))/(2*eps)
    return g
def done(): print("ok checks",OK[0])
