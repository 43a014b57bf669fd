import numpy as np, atoll as at, random, math, traceback
random.seed(1)
nd=at.madl("fw.madl")
ok=bad=0
def chk(name,a,b):
    global ok,bad
    same=(a==b) or (isinstance(b,float) and (math.isnan(b) and math.isnan(float(a)) or abs(float(a)-b)<=1e-12*max(1,abs(b))))
    if same: ok+=1
    else: bad+=1; print("DIFF",name,a,b)
# debounce
d=nd.debounce(); cnt=0; cl=False
for _ in range(60):
    r=random.random()<.5 if _%20<8 else _%40<20
    cnt=0 if r==cl else cnt+1
    if cnt>=3: cl=r
    chk("deb",bool(d.step(bool(r))),cl)
# ramp
d=nd.ramp(); s=0
for _ in range(60):
    t=random.choice([0,255,254,1,128]); st=random.choice([0,1,7,200,255])
    if s<t: s= t if t-s<st else s+st
    else: s= t if s-t<st else s-st
    s&=255
    chk("ramp",int(d.step(t,st)),s)
# median
d=nd.median(); ring=[0]*5;k=0
for _ in range(30):
    x=random.choice([-2**31,2**31-1,0,3,5,-7]); k=k+1 if k<4 else 0; ring[k]=x
    chk("med",int(d.step(x)),sorted(ring)[2])
def crc(b):
    c=0xffff
    for x in b:
        c^=x<<8
        for _ in range(8): c=((c<<1)^0x1021)&0xffff if c&0x8000 else (c<<1)&0xffff
    return c
for n in (0,1,2,9,64):
    b=np.array([random.randrange(256) for _ in range(n)],"uint8")
    try: chk("crc%d"%n,int(nd.crc16(b)),crc(b.tolist()))
    except Exception as e: print("crc",n,type(e),e)
    chk("crcI%d"%n,int(nd.crc16.interpret(b)),crc(b.tolist()))
chk("crc",int(nd.crc16(np.frombuffer(b"123456789","uint8"))),0x29b1)
d=nd.pi(); i=0.0
for _ in range(50):
    r=random.choice([0.,1.,-1.,100.,-100.,1e300]); y=random.choice([0.,.5,-3.])
    e=r-y; raw=.5*e+i; u=min(max(raw,-1.),1.)
    if not(raw>1 and e>0 or raw<-1 and e<0): i=i+.1*e
    chk("pi",float(d.step(r,y)),u)
print("pi nan",d.step(float("nan"),0.),d.step(0.,0.), nd.pi.instance(interpret=True).step(float('nan'),0.))
# traffic
d=nd.traffic(); st="red"; T=3; init=dict(red=3,green=4,yellow=2)
o=nd.traffic.instance(interpret=True)
mem=dict(init)
for _ in range(200):
    rq=random.random()<.3; em=random.random()<.1
    if st=="green" and em: st="red"; mem["red"]=3
    mem[st]-=1; left=mem[st]; cur=st
    if st=="red" and left<=0 and rq: st="green"; mem[st]=4
    elif st=="green" and left<=0: st="yellow"; mem[st]=2
    elif st=="yellow" and left<=0: st="red"; mem[st]=3
    l,x=d.step(rq,em); chk("tl",(l.name,int(x)),(cur,left))
    l,x=o.step(rq,em); chk("tlo",(l.name,int(x)),(cur,left))
for n in (1,2,5):
    try: d=nd.mavg(n=n)
    except Exception as e:
        print(type(e),e); 
        continue
    buf=[0.0]*n;k=0;s=0.
    for _ in range(20):
        x=random.choice([1.,2.,-7.5,1e9]); k=k+1 if k<n-1 else 0
        s=s-buf[k]+x; buf[k]=x
        chk("ma",float(d.step(x)),s/n)
try: d=nd.mavg(n=0); print("mavg0",d.step(1.0))
except Exception as e: print(type(e).__name__,e)
for n in (0,1,16):
    x=np.array([random.gauss(0,1) for _ in range(n)]); c=2*math.cos(.3)
    u=v=0.
    for a in x: u,v=a+c*u-v,u
    chk("goe",float(nd.goertzel(x,c)),float(u*u+v*v-c*u*v))
T=[0,10,40,90,160]
for x in (-1.,0.,.5,1.,3.5,3.9999,4.,1e30,-1e30,float("inf")):
    xc=min(max(x,0.),3.9999);k=int(xc)
    chk("int",float(nd.interp(x)),T[k]+(xc-k)*(T[k+1]-T[k]))
print("interp nan",nd.interp(float("nan")),nd.interp.interpret(float("nan")))
print(ok,bad)
