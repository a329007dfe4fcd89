import { execFileSync } from 'node:child_process';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { readGitConfig, settingsIn } from '../../../../src/agent/base/system/gitConfig.ts';
import { rounds } from '../../../support/rounds.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());

/** What git itself reads in a file, or `undefined` if it refuses it. */
function asGitReads(file: string): readonly string[] | undefined {
  try {
    const args = ['config', '--file', file, '--no-includes', '--list', '-z'];
    const listed = execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' });
    // A name without a value ends without a line break.
    return listed
      .split('\0')
      .filter(each => each !== '')
      .map(each => (each.includes('\n') ? each : `${each}\n`));
  } catch {
    return undefined;
  }
}

const texts = [
  '[core]\n\thooksPath = tools/hooks ; comment\n\tfsmonitor = "touch /x; false" # y\n bare\n',
  '[include]path=../a b.cfg\n[filter "x y\\"z"]\n\tclean = node \\\n   "tools/a b.js"  \\"q\\"  \n',
  '\uFEFF[a.B] key=  v\\tw  \r\n[alias]\r\n t = !sh -c \\"echo # no\\"\r\n e =\r\n[Alias "Q"] Foo = 1 ; x\n',
  '; only\n# comments\n[b] k-1 = "a;b"c\n[c "]"]\nx = "]\\\\"\n',
  '[a]\nb = c\\\n  d\\\n\n e = f',
  '[a]\nb = c  \\\n\nd = e  ""\n',
];

for (const [n, text] of texts.entries())
  test(`settings are what git reads: ${JSON.stringify(text)}`, async () => {
    const read = asGitReads(await temp.file(`text-${n}`, text));
    assert.ok(read && read.length > 0);
    assert.deepEqual(
      [...settingsIn(text)].map(({ key, value }) => `${key}\n${value}`),
      read,
    );
  });

test('settings of random texts are what git reads, wherever git takes the text', async () => {
  const parts = [
    '[s]',
    '[S "U v"]',
    '\n',
    '\n',
    ' ',
    '\t',
    '=',
    'key',
    'K2',
    '"',
    '\\"',
    '\\\\',
    '\\n',
    '\\\n',
    '#',
    ';',
    'v',
    '/',
    'é',
  ];
  let seed = 7;
  const next = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  let taken = 0;
  const times = rounds(400, 40); // each of them starts git
  for (let n = 0; n < times; n++) {
    const lines = Array.from({ length: 3 }, () =>
      Array.from({ length: next(7) }, () => parts[next(parts.length)] ?? '').join(''),
    );
    const text = `[s]\n${lines.map(line => ` k =${line}`).join('\n')}\n`;
    const read = asGitReads(await temp.file('random', text));
    if (!read) continue;
    taken++;
    const ours = [...settingsIn(text)].map(({ key, value }) => `${key}\n${value}`);
    // Versions of git differ in tabs outside of quotes.
    const spaced = (all: readonly string[]): readonly string[] => all.map(each => each.replaceAll('\t', ' '));
    assert.deepEqual(spaced(ours), spaced(read), JSON.stringify(text));
  }
  assert.ok(taken > times / 4, `git took ${taken}`);
});

test('files include others, whatever the condition, and circles end', async () => {
  const file = await temp.file(
    'a/config',
    '[include]\n path = ../b\n[includeIf "gitdir:/nowhere"]\n path = c\n',
  );
  await temp.file('b', '[include]\n path = a/config\n[x]\n y = of b\n');
  const { settings, included } = await readGitConfig(file);
  assert.ok(
    settings.some(({ key, value, folder }) => key === 'x.y' && value === 'of b' && folder === temp.root),
  );
  assert.deepEqual(new Set(included), new Set([temp.at('b'), temp.at('a/c'), temp.at('a/config')]));
});
