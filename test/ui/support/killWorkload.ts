import type { HostTools } from './driver.ts';

/** The content of a file of the workload. */
export function contentOf(side: 'before' | 'after', path: string, size: number): string {
  return `${side} of ${path} ${'x'.repeat(size)}`;
}

/** One line of the report that the workload writes, in the order of events. */
export type KillReport =
  /** A preview is about to be staged; no id has been returned yet. */
  | {
      readonly type: 'staging';
      readonly path: string;
      readonly creates: boolean;
      readonly size: number;
    }
  | { readonly type: 'staged'; readonly id: string; readonly path: string }
  | { readonly type: 'resolving'; readonly id: string }
  | { readonly type: 'resolved'; readonly id: string; readonly action: 'apply' | 'discard' };

export interface KillWork {
  /** The number of this extension host, which is part of its file names. */
  readonly life: number;
  /** The file that the report is appended to. */
  readonly report: string;
  readonly folder: string;
}

/**
 * Stages and resolves previews through the API and the chat, as fast as it can, until the extension host is killed.
 * Each line is in the report before the next action begins. Runs in the extension host.
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
    tell({ type: 'resolving', id });
    await api.previews.resolve({ id, action, reason: `life ${life}` });
    // The model may have resolved it first.
    tell({ type: 'resolved', id, action: api.previews.get(id)?.state === 'applied' ? 'apply' : 'discard' });
  };
  const actionOf = (n: number): 'apply' | 'discard' => (n % 4 === 3 ? 'discard' : 'apply');

  const throughApi = async (): Promise<void> => {
    for (let n = 0; ; n++) {
      const path = `life${life}-api${n}.txt`;
      const size = sizeOf(n);
      const before = n % 3 === 0 ? null : textOf('before', path, size);
      const after = textOf('after', path, size);
      if (before !== null) fs.writeFileSync(`${folder}/${path}`, before);
      tell({ type: 'staging', path, creates: before === null, size });
      const { id } = api.previews.push({
        label: path,
        sourceToolName: 'kill',
        changes: [{ path, before, after }],
      });
      tell({ type: 'staged', id, path });
      if (n % 5 === 4) continue; // Left pending for the next extension host.
      await resolve(id, actionOf(n));
    }
  };
  const throughChat = async (): Promise<void> => {
    api.session.onDidEmit(event => {
      if (event.type !== 'tool_end') return;
      const id = /^Staged as (p\d+),/.exec(event.result.content)?.[1];
      const path = /"path":"([^"]+)"/.exec(event.call.arguments)?.[1];
      if (id !== undefined && path !== undefined) tell({ type: 'staged', id, path });
      // The model also resolves previews that were staged through the API.
      const label = /^Applied: p\d+ \((.+)\)\. Reason: /.exec(event.result.content)?.[1];
      const entry = api.previews.ledger().findLast(candidate => candidate.label === label);
      if (entry) tell({ type: 'resolved', id: entry.previewId, action: 'apply' });
    });
    for (let n = 0; ; n++) {
      const path = `life${life}-chat${n}.txt`;
      const size = sizeOf(n);
      tell({ type: 'staging', path, creates: true, size });
      await api.session.prompt(`/write ${path} :: ${textOf('after', path, size)}`);
    }
  };
  const resolveLeftovers = async (): Promise<void> => {
    const left = api.previews.list().filter(preview => !preview.label.startsWith(`life${life}-`));
    for (const [n, { id }] of left.slice(0, 10).entries()) await resolve(id, actionOf(n));
  };
  await Promise.all([resolveLeftovers(), throughApi(), throughChat()]);
}

/** The state of every preview ever staged, as an extension host that has just started reports it. */
export interface KillFindings {
  readonly previews: readonly {
    readonly id: string;
    readonly path: string;
    readonly state: string;
    readonly stale: boolean;
    readonly listed: boolean;
    /** The outcome of each attempt to resolve it. */
    readonly outcomes: readonly string[];
  }[];
  readonly sessionState: string;
  readonly messages: ReturnType<HostTools['api']['session']['messages']>;
}

/** Runs in the extension host. @param reported the previews that were staged, as far as it was reported */
export function findings({ api }: HostTools, reported: readonly string[]): KillFindings {
  const listed = new Set(api.previews.list().map(({ id }) => id));
  const ledger = api.previews.ledger();
  const ids = new Set([...reported, ...listed, ...ledger.map(({ previewId }) => previewId)]);
  const previews = [...ids].flatMap(each => {
    const preview = api.previews.get(each);
    if (!preview) return [];
    const { id, state, stale, files } = preview;
    const outcomes = ledger.filter(entry => entry.previewId === id).map(entry => entry.outcome);
    return [{ id, path: files[0]?.path ?? '', state, stale, listed: listed.has(id), outcomes }];
  });
  return { previews, sessionState: api.session.state, messages: api.session.messages() };
}
