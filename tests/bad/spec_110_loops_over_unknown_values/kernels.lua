local t = { 1, 2 }
for k, v in next, t do t[k] = v end
for k, v in nxt(t) do t[k] = v end
for v in thing do t[v] = v end
while next(t) do t.x = 1 end
