/** Each circle of a graph as the list of its members (its strongly connected components of more than one, by Tarjan). */
export const circlesOf = (arrows: Iterable<readonly [from: string, to: string]>): string[][] => {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of arrows) {
    if (from === to) continue;
    next.set(from, (next.get(from) ?? new Set()).add(to));
  }
  const order = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    const mine = order.size;
    let low = mine;
    order.set(node, mine);
    open.push(node);
    for (const other of next.get(node) ?? []) {
      if (!order.has(other)) low = Math.min(low, visit(other));
      else if (open.includes(other)) low = Math.min(low, order.get(other) ?? mine);
    }
    if (low === mine) {
      const circle = open.splice(open.indexOf(node));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return low;
  };
  for (const node of next.keys()) if (!order.has(node)) visit(node);
  return circles;
};
