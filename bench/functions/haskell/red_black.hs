import Timing
data Tree = Leaf | Red !Tree !Int !Tree | Black !Tree !Int !Tree
balance :: Tree -> Int -> Tree -> Tree
balance (Red (Red a x b) y c) z d = Red (Black a x b) y (Black c z d)
balance (Red a x (Red b y c)) z d = Red (Black a x b) y (Black c z d)
balance a x (Red (Red b y c) z d) = Red (Black a x b) y (Black c z d)
balance a x (Red b y (Red c z d)) = Red (Black a x b) y (Black c z d)
balance l k r = Black l k r
add :: Tree -> Int -> Tree
add Leaf x = Red Leaf x Leaf
add t@(Red l y r) x | x < y = Red (add l x) y r | x > y = Red l y (add r x) | otherwise = t
add t@(Black l y r) x | x < y = balance (add l x) y r | x > y = balance l y (add r x) | otherwise = t
insert :: Tree -> Int -> Tree
insert t x = case add t x of Red l y r -> Black l y r; other -> other
contains :: Tree -> Int -> Bool
contains Leaf _ = False
contains (Red l y r) x | x < y = contains l x | x > y = contains r x | otherwise = True
contains (Black l y r) x | x < y = contains l x | x > y = contains r x | otherwise = True
many :: Int -> Int
many count = go count Leaf 12345
  where
    go 0 t _ = length (filter (contains t) [0 .. 2 * count - 1])
    go k t x = let y = (x * 1103515245 + 12345) `mod` 2147483648; u = insert t (y `mod` (2 * count)) in u `seq` go (k - 1 :: Int) u y
main :: IO ()
main = report 100000 many
