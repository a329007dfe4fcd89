import { times } from './bench.ts';
import type { PublishedFigure } from './results.ts';

/** Sizes in pixels. */
const WIDTH = 860;
const LABELS = 400;
const RIGHT = 70;
const ROW = 34;
const BAR = 10;
const TOP = 74;
const BOTTOM = 34;
/** What the axis shows: ratios on a logarithmic scale. */
const TICKS = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

type Compared = PublishedFigure & { readonly ratio: number };

/**
 * The ratios as bars: shorter is faster, and 1× is the baseline. It has a background of its own and follows the theme of whoever
 * looks at it.
 */
export function chartOf(figures: readonly PublishedFigure[]): string {
  const rows = figures.filter((figure): figure is Compared => figure.ratio !== undefined);
  const height = TOP + rows.length * ROW + BOTTOM;
  const parts = [
    `<text class="title" x="24" y="32">Time beside a baseline, measured in the same minute</text>`,
    `<text class="note" x="24" y="52">Shorter is faster; 1× is as fast as the baseline. The mark is the goal.</text>`,
    ...TICKS.map(tick => axisAt(tick, height)),
    ...rows.map((row, at) => barOf(row, TOP + at * ROW)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Times of Redline as ratios to baselines">
${STYLE}
<rect class="paper" width="${WIDTH}" height="${height}" rx="8"/>
${parts.join('\n')}
</svg>
`;
}

const STYLE = `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 }
.note, .of, .tick { fill: #59636e }
.of, .tick { font-size: 11px }
.paper { fill: #ffffff; stroke: #d1d9e0 }
.grid { stroke: #d1d9e0 }
.one { stroke: #59636e }
.met { fill: #1a7f37 }
.missed { fill: #cf222e }
.plain { fill: #6e7781 }
.goal { stroke: #1f2328; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .note, .of, .tick { fill: #9198a1 }
  .paper { fill: #0d1117; stroke: #3d444d }
  .grid { stroke: #3d444d }
  .one { stroke: #9198a1 }
  .met { fill: #3fb950 }
  .missed { fill: #f85149 }
  .plain { fill: #9198a1 }
  .goal { stroke: #f0f6fc }
}
</style>`;

/** The place of a ratio on the axis. What is beyond the axis is at its end. */
function xOf(ratio: number): number {
  const [low, high] = [Math.log(TICKS[0] ?? 1), Math.log(TICKS.at(-1) ?? 1)];
  const part = Math.min(1, Math.max(0, (Math.log(ratio) - low) / (high - low)));
  return Math.round(LABELS + part * (WIDTH - RIGHT - LABELS));
}

function axisAt(tick: number, height: number): string {
  const [x, end] = [xOf(tick), height - BOTTOM];
  const line = `<line class="${tick === 1 ? 'one' : 'grid'}" x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${end}"/>`;
  return `${line}<text class="tick" x="${x}" y="${end + 18}" text-anchor="middle">${tick}×</text>`;
}

function barOf({ figure, ours, baseline = '', ratio, limit, met }: Compared, y: number): string {
  const kind = met === undefined ? 'plain' : met ? 'met' : 'missed';
  const middle = y + ROW / 2;
  const [from, to] = [xOf(0), xOf(ratio)];
  const goal = limit === undefined ? undefined : xOf(limit);
  return [
    `<text x="${LABELS - 14}" y="${middle - 3}" text-anchor="end">${escaped(figure)}</text>`,
    `<text class="of" x="${LABELS - 14}" y="${middle + 11}" text-anchor="end">${escaped(`${ours} · ${baseline}`)}</text>`,
    `<rect class="${kind}" x="${from}" y="${middle - BAR / 2}" width="${Math.max(2, to - from)}" height="${BAR}" rx="2"/>`,
    ...(goal === undefined
      ? []
      : [`<line class="goal" x1="${goal}" y1="${middle - BAR}" x2="${goal}" y2="${middle + BAR}"/>`]),
    `<text x="${Math.max(to, goal ?? 0) + 8}" y="${middle + 4}">${met === false ? '✖ ' : ''}${times(ratio)}</text>`,
  ].join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
