// Where names stand beside marks so that none covers another: at one of four corners, or nowhere.

const WIDE = 6.6, HIGH = 14; // of a letter, of a line

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/** Marks of { label, x, y } with the place of their labels, `at` and `anchor`; those without room are left out. */
export function places(marks, box) {
  const taken = marks.map(({ x, y }) => [x - 8, y - 8, x + 8, y + 8]), found = [];
  for (const mark of marks) {
    const wide = WIDE * mark.label.length, left = mark.x > (box.left + box.right) / 2;
    const corners = [left, !left].flatMap((end) => [-14, 14].map((off) => ({ end, off })));
    for (const { end, off } of corners) {
      const at = [mark.x + (end ? -11 : 11), mark.y + off];
      const area = [end ? at[0] - wide : at[0], at[1] - HIGH / 2, end ? at[0] : at[0] + wide, at[1] + HIGH / 2];
      const inside = area[0] >= box.left && area[2] <= box.right + 14 && area[1] >= box.top - 4 && area[3] <= box.bottom;
      if (!inside || taken.some((other) => overlap(area, other))) continue;
      taken.push(area);
      found.push({ ...mark, at, anchor: end ? "end" : "start" });
      break;
    }
  }
  return found;
}
