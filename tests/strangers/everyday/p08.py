import numpy as np, atoll as at
from atoll import f32,f64,i64,u64
from h import *
n,m,k=at.sizes("n m k")
@at.fn
def rk(f: at.Fn[[f64,f64[n]],f64[n]], y0: f64[n], tol: f64):
    t=0.0; y=y0; h=0.1; steps=0
    while t<1.0:
        if t+h>1.0:
            h=1.0-t
        k1=f(t,y)
        k2=f(t+h,y+h*k1)
        err=np.max(np.abs(h*(k2-k1)/2),initial=0.0)
        if err<=tol:
            t+=h; y=y+h*(k1+k2)/2; steps+=1
        h*=min(2.0,max(0.3,0.9*sqrt(tol/max(err,1e-12))))
        if steps>10000:
            break
    return y,steps
@at.fn
def lin(y0: f64[n], rate: f64) -> f64:
    y,s=rk(lambda t,y: -rate*y*(1+0.1*sin(t)),y0,1e-1)
    return sum(y*y)
@at.fn
def non(y0: f64[n], rate: f64) -> f64:
    y,s=rk(lambda t,y: -rate*y*y*y+sin(t),y0,5e-2)
    return sum(y*y)
y0=np.array([1.,2.])
for f in (lin,non):
    same((f.type,"y0"),guard("a",lambda:at.grad(f)(y0,1.3)),fd(lambda z:f(z,1.3),y0),1e-5)
    same((f.type,"rate"),guard("a",lambda:at.grad(f,wrt="rate")(y0,1.3)),(f(y0,1.3+1e-6)-f(y0,1.3-1e-6))/2e-6,1e-5)
    same((f.type,"jvp"),guard("a",lambda:at.jvp(f,(y0,1.3),(np.zeros(2),1.0))),(f(y0,1.3+1e-6)-f(y0,1.3-1e-6))/2e-6,1e-5)
    print(at.grad(f).residuals()); print(at.grad(f).memory())
@at.fn
def vdp(t: f64, y: f64[2]) -> f64[2]:
    return [y[1],5.0*(1-y[0]**2)*y[1]-y[0]]
@at.fn
def inside(y0: f64[2]) -> f64[2]:
    y,s=rk(vdp,y0,1e-2)
    return y
print("inside",guard("inside",lambda:inside(np.array([2.,0.]))))
print("outside",guard("outside",lambda:rk(vdp,np.array([2.,0.]),1e-2)))
# simple while, residuals
@at.fn
def sq(x: f64) -> f64:
    y=x
    while y<100.0:
        y=y*y
    return y
print(at.grad(sq)(1.5), at.grad(sq).residuals())
done()
