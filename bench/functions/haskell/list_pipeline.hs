import Timing
import Data.List (foldl')
pipeline :: Int -> Int -> Int
pipeline size rounds = sum [foldl' (+) 0 (map (\x -> x * x `mod` 1009) (filter (\x -> x `mod` 3 /= 0 || even x) (map (\x -> x * 3 + r) [1 .. size]))) | r <- [0 .. rounds - 1]]
main :: IO ()
main = report 10000 (\size -> pipeline size 100)
