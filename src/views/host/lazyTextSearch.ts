import type { TextSearch } from '../../agent/tools/searchText.ts';
import type { WorkspaceTextSearch } from './textSearch.ts';

/** `WorkspaceTextSearch` whose code is loaded with the first search: activation does not pay for it. */
export function lazyTextSearch(...parts: ConstructorParameters<typeof WorkspaceTextSearch>): TextSearch {
  let loaded: Promise<TextSearch> | undefined;
  const load = async (): Promise<TextSearch> => {
    const { WorkspaceTextSearch } = await import('./textSearch.ts');
    return new WorkspaceTextSearch(...parts);
  };
  return { search: async (...query) => (await (loaded ??= load())).search(...query) };
}
