import Timing
ack :: Int -> Int -> Int
ack m n | m == 0 = n + 1 | n == 0 = ack (m - 1) 1 | otherwise = ack (m - 1) (ack m (n - 1))
tak :: Int -> Int -> Int -> Int
tak x y z = if y >= x then z else tak (tak (x - 1) y z) (tak (y - 1) z x) (tak (z - 1) x y)
main :: IO ()
main = report 9 (\n -> ack 3 n + tak 24 16 8)
