/** A few colours for many: those of pictures of a window, where few colours fill most of it and many are edges of letters. */

/** @typedef {import('./png.mjs').Picture} Picture */

/**
 * @typedef {object} Palette
 * @property {readonly number[]} colours each as 0xRRGGBB
 * @property {(picture: Picture) => Uint8Array} indices the nearest colour of each pixel
 */

/**
 * Chooses colours that serve all pictures alike, so that what does not change keeps its colour. The most common ones are
 * kept as they are, and the others are brought together by median cut.
 * @param {readonly Picture[]} pictures
 * @param {number} most how many colours, at most 256
 * @returns {Palette}
 */
export function paletteOf(pictures, most) {
  const counts = new Map();
  for (const { colours } of pictures) {
    for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const byCount = [...counts].sort(([a, m], [b, n]) => n - m || a - b).map(([colour]) => colour);
  const exact = byCount.length <= most ? byCount.length : Math.floor(most / 2);
  const rest = byCount
    .slice(exact)
    .map(colour => ({ channels: channelsOf(colour), weight: Math.sqrt(counts.get(colour)) }));
  const colours = [...new Set([...byCount.slice(0, exact), ...medianCut(rest, most - exact)])];
  return { colours, indices: nearestIn(colours) };
}

/** Splits the box with the largest spread until there are as many as wanted, and returns the mean of each. */
function medianCut(colours, wanted) {
  if (colours.length === 0 || wanted === 0) return [];
  const boxes = [boxOf(colours)];
  while (boxes.length < wanted) {
    const widest = boxes.reduce((best, box) => (box.spread > best.spread ? box : best));
    if (widest.spread === 0) break;
    boxes.splice(boxes.indexOf(widest), 1, ...halvesOf(widest));
  }
  return boxes.map(({ colours: own, weight }) => {
    const mean = channel =>
      Math.round(own.reduce((sum, one) => sum + one.channels[channel] * one.weight, 0) / weight);
    return (mean(0) << 16) | (mean(1) << 8) | mean(2);
  });
}

/** A box with the channel in which its colours differ most, and how much that matters. */
function boxOf(colours) {
  const weight = colours.reduce((sum, one) => sum + one.weight, 0);
  const spreads = [0, 1, 2].map(channel => {
    const mean = colours.reduce((sum, one) => sum + one.channels[channel] * one.weight, 0) / weight;
    return colours.reduce((sum, one) => sum + (one.channels[channel] - mean) ** 2 * one.weight, 0);
  });
  const spread = colours.length === 1 ? 0 : Math.max(...spreads);
  return { colours, weight, spread, channel: spreads.indexOf(Math.max(...spreads)) };
}

/** Cuts a box of two or more colours where half of its weight is on each side. */
function halvesOf({ colours, weight, channel }) {
  const sorted = colours.toSorted((a, b) => a.channels[channel] - b.channels[channel]);
  let [cut, sum] = [0, 0];
  while (cut < sorted.length - 1 && (cut === 0 || sum < weight / 2)) sum += sorted[cut++].weight;
  return [boxOf(sorted.slice(0, cut)), boxOf(sorted.slice(cut))];
}

/** Maps pictures to the nearest of the colours. */
function nearestIn(palette) {
  const channels = palette.map(channelsOf);
  const known = new Map(palette.map((colour, index) => [colour, index]));
  const nearest = colour => {
    const [red, green, blue] = channelsOf(colour);
    let [best, least] = [0, Infinity];
    for (const [index, [r, g, b]] of channels.entries()) {
      const distance = 2 * (red - r) ** 2 + 4 * (green - g) ** 2 + 3 * (blue - b) ** 2;
      if (distance < least) [best, least] = [index, distance];
    }
    return best;
  };
  return ({ colours }) =>
    Uint8Array.from(colours, colour => {
      let index = known.get(colour);
      if (index === undefined) known.set(colour, (index = nearest(colour)));
      return index;
    });
}

function channelsOf(colour) {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}
