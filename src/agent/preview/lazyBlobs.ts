import { existsSync } from 'node:fs';
import type { Blobs } from './blobs.ts';

/**
 * Keeps contents in a folder, whose code is loaded on first use.
 * @param mayRemove whether this process knows everything that names a content of the folder
 */
export function blobsIn(folder: string, mayRemove: () => boolean): Blobs {
  let opened: Promise<Blobs> | undefined;
  const open = (): Promise<Blobs> =>
    (opened ??= import('./blobFolder.ts').then(({ BlobFolder }) => new BlobFolder(folder, mayRemove)));
  return {
    put: async bytes => (await open()).put(bytes),
    get: async side => (await open()).get(side),
    // Most workspaces have no binary file to forget.
    retain: async (named, before) => {
      if (opened || existsSync(folder)) await (await open()).retain(named, before);
    },
  };
}
