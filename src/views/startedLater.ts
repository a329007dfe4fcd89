import type { Memento, Uri } from 'vscode';
import { DisposableStore, type Disposable } from '../agent/base/disposable.ts';
import { detailOf } from '../agent/base/errors.ts';
import type { Event } from '../agent/base/event.ts';
import type { Agent } from './agent.ts';
import type { LookedAt } from './review/lookedAt.ts';
import type { Overview } from './review/overview.ts';
import type { PreviewOpener } from './review/previewOpener.ts';
import type { PreviewTabs } from './review/previewTabs.ts';
import type { ShownRevisions } from './review/shownRevisions.ts';
import { modeSwitch } from './settings.ts';

// Features loaded lazily, on their first event: most windows do without them for a while.

/** Marks files with pending changes where people work. */
export function startFileMarks(agent: Agent & { readonly extensionUri: Uri }): Disposable {
  const load = async (): Promise<Disposable> => {
    const { FileMarks } = await import('./review/marks/fileMarks.ts');
    return new FileMarks(agent);
  };
  const { store } = agent;
  return startWithFirst(agent, store.onDidStage, () => load, store.hasPending ? load : undefined);
}

/** Offers the difference between a new revision and the version that the user has looked at. */
export function startSinceLooked(agent: Agent, looks: LookedAt): Disposable {
  return startWithFirst(agent, agent.store.onDidRevise, () => async () => {
    const { SinceLooked } = await import('./review/sinceLooked.ts');
    return new SinceLooked(agent, looks);
  });
}

/**
 * Reopens the diffs that were in front when the window was reloaded.
 * @param memory `undefined` while another window owns the storage: its previews are not those of this window
 */
export function startShownAgain(
  agent: Agent & { readonly tabs: PreviewTabs; readonly opener: PreviewOpener },
  memory: Memento | undefined,
): Disposable {
  const load = memory && (async () => new (await import('./review/shownAgain.ts')).ShownAgain(agent, memory));
  const { store } = agent;
  return startWithFirst(agent, store.onDidStage, () => load, store.hasPending ? load : undefined);
}

/** Shows how many previews the model applied since the user last looked. */
export function startAppliedUnseen(agent: Agent, shown: ShownRevisions, overview: Overview): Disposable {
  const { store } = agent;
  const since = store.feed.attempts;
  const load = async (): Promise<Disposable> => {
    const { AppliedUnseen } = await import('./review/appliedUnseen.ts');
    return new AppliedUnseen(store, shown, overview.onDidOpenSet, since, modeSwitch(agent.settings));
  };
  return startWithFirst(agent, store.onDidResolve, entries =>
    entries.some(({ actor }) => actor === 'model') ? load : undefined,
  );
}

/**
 * Moves the tabs of files along with applied changes, of any actor: otherwise the tab of a removed file would bring it back
 * on saving.
 */
export function followFiles({ store, files, logger }: Agent): Disposable {
  return store.onDidResolve(entries => {
    if (!entries.some(entry => entry.files.some(({ after }) => after === null))) return;
    import('./review/moveTabs.ts')
      .then(({ moveTabsAfter }) => moveTabsAfter(entries, store, files))
      .catch((error: unknown) => logger.error(`Moving tabs failed: ${detailOf(error)}`));
  });
}

/** Tells the user at once of applied changes that did not stay. */
export function tellWhatIsLost({ store, logger }: Agent): Disposable {
  return store.onDidResolve(entries => {
    const lost = entries.filter(entry => entry.lost);
    if (lost.length === 0) return;
    import('./review/ledger/lostNotice.ts')
      .then(({ tellLost }) => Promise.all(lost.map(entry => tellLost(entry, store))))
      .catch((error: unknown) => logger.error(`Telling what was lost failed: ${detailOf(error)}`));
  });
}

type Load = () => Promise<Disposable>;

/**
 * Loads a part once.
 * @param loadFor the loader, if the event needs the part; else `undefined`
 * @param now the loader, if the part is to be loaded at once
 */
function startWithFirst<T>(
  { logger }: Agent,
  event: Event<T>,
  loadFor: (happened: T) => Load | undefined,
  now?: Load,
): Disposable {
  const owned = new DisposableStore();
  let isLoading = false;
  const start = (load: Load | undefined): void => {
    if (isLoading || !load) return;
    isLoading = true;
    load().then(
      part => owned.add(part),
      (error: unknown) => logger.error(`Loading a view failed: ${detailOf(error)}`),
    );
  };
  owned.add(event(happened => start(loadFor(happened))));
  start(now);
  return owned;
}
