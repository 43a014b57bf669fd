import numpy as np, atoll as at
from atoll import f32,f64,i64
from h import *
n,m,k=at.sizes("n m k")
# n-body leapfrog with record
@at.record
class Sys:
    pos: f64[n,3]
    vel: f64[n,3]
@at.fn
def accel(pos: f64[n,3], mass: f64[n], eps: f64) -> f64[n,3]:
    d = pos[None,:,:] - pos[:,None,:]
    r2 = np.sum(d*d, axis=2) + eps*eps
    inv = r2 ** -1.5
    return np.einsum("ij,ijk,j->ik", inv, d, mass)
@at.fn
def leap(s: Sys, mass: f64[n], dt: f64, steps: i64) -> Sys:
    a = accel(s.pos, mass, 0.1)
    pos, vel = s.pos, s.vel
    for _ in range(steps):
        vel = vel + 0.5*dt*a
        pos = pos + dt*vel
        a = accel(pos, mass, 0.1)
        vel = vel + 0.5*dt*a
    return Sys(pos=pos, vel=vel)
@at.fn
def energy(pos: f64[n,3], mass: f64[n]) -> f64:
    return -sum(mass[i]*mass[j]/sqrt(sum((pos[i,c]-pos[j,c])**2 for c in range(3))+0.01) for i in range(n) for j in range(n) if j<i)
def pacc(pos,mass,eps):
    d=pos[None]-pos[:,None]; r2=(d*d).sum(2)+eps*eps
    return np.einsum("ij,ijk,j->ik",r2**-1.5,d,mass)
def pl(pos,vel,mass,dt,steps):
    a=pacc(pos,mass,.1)
    for _ in range(steps):
        vel=vel+.5*dt*a; pos=pos+dt*vel; a=pacc(pos,mass,.1); vel=vel+.5*dt*a
    return pos,vel
r=np.random.default_rng(0)
for N in (0,1,2,5,33):
    p,v,ms=r.normal(size=(N,3)),r.normal(size=(N,3)),r.uniform(1,2,N)
    def go():
        o=leap(Sys(p,v),ms,0.01,7); return o.pos,o.vel
    same(("nbody",N),guard("nbody",go),pl(p,v,ms,.01,7),1e-10)
    same(("force",N),guard("g",lambda:-at.grad(energy)(p,ms)),pacc(p,ms,.1)*ms[:,None],1e-9)
# gradient of final energy wrt initial state (record)
@at.fn
def final(s: Sys, mass: f64[n]) -> f64:
    t = leap(s, mass, 0.02, 5)
    return energy(t.pos, mass) + 0.5*sum(mass[i]*sum(t.vel[i]**2) for i in range(n))
p,v,ms=r.normal(size=(3,3)),r.normal(size=(3,3)),r.uniform(1,2,3)
def chk():
    g=at.grad(final)(Sys(p,v),ms)
    same("gpos",g.pos,fd(lambda q:final(Sys(q,v),ms),p),1e-5)
    same("gvel",g.vel,fd(lambda q:final(Sys(p,q),ms),v),1e-5)
    print(at.grad(final).residuals())
guard("gradrec",chk)
# SPH grid hashing with counting sort
@at.fn
def sph(x: f64[n], y: f64[n], h: f64, g: i64):
    cx=np.clip(np.floor(x/h).astype(np.int64),0,g-1)
    cy=np.clip(np.floor(y/h).astype(np.int64),0,g-1)
    cell=cy*g+cx
    count=hist(add,0,g*g,cell,[1 for _ in range(n)])
    start=np.concatenate([np.zeros(1,dtype=np.int64),np.cumsum(count)])
    order=np.argsort(cell,kind="stable")
    rho=np.zeros(n)
    for i in range(n):
        acc=0.0
        for dy in range(-1,2):
            for dx in range(-1,2):
                ax=cx[i]+dx; ay=cy[i]+dy
                if 0<=ax<g and 0<=ay<g:
                    c=ay*g+ax
                    for p in range(start[c],start[c+1]):
                        j=order[p]
                        r2=(x[i]-x[j])**2+(y[i]-y[j])**2
                        if r2<h*h:
                            acc+=(h*h-r2)**3
        rho[i]=acc
    return rho, order, start
def psph(x,y,h,g):
    r2=(x[:,None]-x)**2+(y[:,None]-y)**2
    cx=np.clip(np.floor(x/h).astype(int),0,g-1);cy=np.clip(np.floor(y/h).astype(int),0,g-1);cell=cy*g+cx
    return np.where(r2<h*h,(h*h-r2)**3,0).sum(1),np.argsort(cell,kind="stable"),np.concatenate([[0],np.cumsum(np.bincount(cell,minlength=g*g))])
for N in (0,1,2,77):
    x,y=r.uniform(size=N),r.uniform(size=N)
    same(("sph",N),guard("sph",lambda:sph(x,y,0.13,8)),psph(x,y,.13,8),1e-12)
@at.fn
def rho2(x: f64[n], y: f64[n]) -> f64:
    a,b,c=sph(x,y,0.3,4)
    return sum(a*a)
x,y=r.uniform(size=9),r.uniform(size=9)
same("gsph",guard("gsph",lambda:at.grad(rho2)(x,y)),fd(lambda q:rho2(q,y),x),1e-5)
done()
