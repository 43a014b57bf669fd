import Timing
safe :: Int -> Int -> [Int] -> Bool
safe _ _ [] = True
safe c d (q : rest) = not (q == c || q == c + d || q == c - d) && safe c (d + 1) rest
countQueens :: Int -> Int
countQueens n = place 0 []
  where
    place row queens = if row == n then 1 else columns row 0 queens
    columns row c queens
      | c == n = 0
      | otherwise = (if safe c 1 queens then place (row + 1) (c : queens) else 0) + columns row (c + 1) queens
main :: IO ()
main = report 9 countQueens
