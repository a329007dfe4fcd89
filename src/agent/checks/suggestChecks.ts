import { isRecord, parsedJson } from '../base/json.ts';

/** A check that a project seems to have. */
export interface SuggestedCheck {
  readonly name: string;
  readonly command: string;
}

/** Scripts that check something, in the order in which they are suggested. */
const SCRIPTS = /^(?:test|tests|unit|check|typecheck|type-check|types|tsc|lint|eslint|build)(?:[:-].*)?$/;
const WATCHES = /watch|--inspect|dev\b|serve/;
const TARGETS = /^(test|check|lint|typecheck|build)\s*:/gm;

/**
 * The checks that the files of a project suggest.
 * @param read the text of a file at the root; `undefined` if there is none
 */
export async function suggestChecks(
  read: (name: string) => Promise<string | undefined>,
): Promise<readonly SuggestedCheck[]> {
  const found: SuggestedCheck[] = [];
  const scripts = scriptsIn(await read('package.json'));
  if (scripts.length > 0) {
    const runner = await packageManager(read);
    for (const [name, script] of scripts)
      if (SCRIPTS.test(name) && !WATCHES.test(`${name} ${script}`))
        found.push({ name, command: name === 'test' ? `${runner} test` : `${runner} run ${name}` });
  }
  const makefile = (await read('Makefile')) ?? (await read('makefile'));
  for (const [, target] of makefile?.matchAll(TARGETS) ?? [])
    if (target !== undefined) found.push({ name: `make ${target}`, command: `make ${target}` });
  if ((await read('Cargo.toml')) !== undefined)
    found.push(
      { name: 'cargo test', command: 'cargo test --offline' },
      { name: 'cargo check', command: 'cargo check --offline' },
    );
  if ((await read('go.mod')) !== undefined)
    found.push({ name: 'go test', command: 'go test ./...' }, { name: 'go vet', command: 'go vet ./...' });
  const python = `${(await read('pyproject.toml')) ?? ''}${(await read('setup.cfg')) ?? ''}`;
  if ((await read('pytest.ini')) !== undefined || /\bpytest\b/.test(python))
    found.push({ name: 'pytest', command: 'python -m pytest -q' });
  return found;
}

function scriptsIn(text: string | undefined): readonly (readonly [string, string])[] {
  if (text === undefined) return [];
  const parsed = parsedJson(text);
  const scripts = isRecord(parsed) ? parsed['scripts'] : undefined;
  if (!isRecord(scripts)) return [];
  return Object.entries(scripts).flatMap(([name, script]) =>
    typeof script === 'string' ? [[name, script] as const] : [],
  );
}

async function packageManager(read: (name: string) => Promise<string | undefined>): Promise<string> {
  for (const [lock, name] of [
    ['pnpm-lock.yaml', 'pnpm'],
    ['yarn.lock', 'yarn'],
    ['bun.lock', 'bun'],
  ] as const)
    if ((await read(lock)) !== undefined) return name;
  return 'npm';
}
