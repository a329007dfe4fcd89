import type { HostTools } from './drivenWorkbench.ts';

/** The content of a file of the workload. */
export function contentOf(side: 'before' | 'after', path: string, size: number): string {
  return `${side} of ${path} ${'x'.repeat(size)}`;
}

/** One line of the report that the workload keeps, in the order in which things happened. */
export type KillReport =
  /** A preview is about to be staged: nobody has been told of it. */
  | {
      readonly told: 'staging';
      readonly path: string;
      readonly creates: boolean;
      readonly size: number;
    }
  | { readonly told: 'staged'; readonly id: string; readonly path: string }
  | { readonly told: 'resolving'; readonly id: string }
  | { readonly told: 'resolved'; readonly id: string; readonly action: 'apply' | 'discard' };

export interface KillWork {
  /** Which life of the extension host this is; part of the names of files. */
  readonly life: number;
  /** Where the report goes. */
  readonly report: string;
  readonly folder: string;
}

/**
 * Stages and resolves previews through the API and the chat, as fast as it goes, until the extension host is killed.
 * Every line of the report is in the file before the next thing happens. Runs in the extension host.
 */
export async function workUntilKilled(
  { api, fs }: HostTools,
  { life, report, folder }: KillWork,
): Promise<void> {
  const tell = (line: object): void => fs.appendFileSync(report, `${JSON.stringify(line)}\n`);
  const textOf = (side: string, path: string, size: number): string =>
    `${side} of ${path} ${'x'.repeat(size)}`;
  const sizeOf = (n: number): number => (n % 10 === 9 ? 300_000 : n % 3 === 0 ? 5_000 : 10);
  const resolve = async (id: string, action: 'apply' | 'discard'): Promise<void> => {
    tell({ told: 'resolving', id });
    await api.previews.resolve({ id, action, reason: `life ${life}` });
    tell({ told: 'resolved', id, action });
  };
  const actionOf = (n: number): 'apply' | 'discard' => (n % 4 === 3 ? 'discard' : 'apply');

  const throughApi = async (): Promise<void> => {
    for (let n = 0; ; n++) {
      const path = `life${life}-api${n}.txt`;
      const size = sizeOf(n);
      const before = n % 3 === 0 ? null : textOf('before', path, size);
      const after = textOf('after', path, size);
      if (before !== null) fs.writeFileSync(`${folder}/${path}`, before);
      tell({ told: 'staging', path, creates: before === null, size });
      const { id } = api.previews.push({
        label: path,
        sourceToolName: 'kill',
        changes: [{ path, before, after }],
      });
      tell({ told: 'staged', id, path });
      if (n % 5 === 4) continue; // stays pending for a later life
      await resolve(id, actionOf(n));
    }
  };
  const throughChat = async (): Promise<void> => {
    api.session.onDidEmit(event => {
      if (event.type !== 'tool_end') return;
      const id = /^Staged as (p\d+),/.exec(event.result.content)?.[1];
      const path = /"path":"([^"]+)"/.exec(event.call.arguments)?.[1];
      if (id !== undefined && path !== undefined) tell({ told: 'staged', id, path });
      // The model is asked about the previews that come through the API, too.
      const label = /^Applied: (.+)\. Reason: /.exec(event.result.content)?.[1];
      const entry = api.previews.ledger().findLast(candidate => candidate.label === label);
      if (entry) tell({ told: 'resolved', id: entry.previewId, action: 'apply' });
    });
    for (let n = 0; ; n++) {
      const path = `life${life}-chat${n}.txt`;
      const size = sizeOf(n);
      tell({ told: 'staging', path, creates: true, size });
      await api.session.prompt(`/write ${path} :: ${textOf('after', path, size)}`);
    }
  };
  const leftovers = async (): Promise<void> => {
    const left = api.previews.list().filter(preview => !preview.label.startsWith(`life${life}-`));
    for (const [n, { id }] of left.slice(0, 10).entries()) await resolve(id, actionOf(n));
  };
  await Promise.all([leftovers(), throughApi(), throughChat()]);
}

/** What an extension host that has just started says of every preview that was ever staged. */
export interface KillFindings {
  readonly previews: readonly {
    readonly id: string;
    readonly path: string;
    readonly state: string;
    readonly stale: boolean;
    readonly listed: boolean;
    /** Outcomes of all attempts to resolve it. */
    readonly outcomes: readonly string[];
  }[];
  readonly sessionState: string;
  readonly messages: ReturnType<HostTools['api']['session']['messages']>;
}

/** Runs in the extension host. */
export function findings({ api }: HostTools): KillFindings {
  const listed = new Set(api.previews.list().map(({ id }) => id));
  const ledger = api.previews.ledger();
  const previews = [];
  for (let n = 1, missed = 0; missed < 50; n++) {
    const preview = api.previews.get(`p${n}`);
    if (!preview) {
      missed++;
      continue;
    }
    const { id, state, stale, files } = preview;
    const outcomes = ledger.filter(entry => entry.previewId === id).map(entry => entry.outcome);
    previews.push({ id, path: files[0]?.path ?? '', state, stale, listed: listed.has(id), outcomes });
  }
  return { previews, sessionState: api.session.state, messages: api.session.messages() };
}
