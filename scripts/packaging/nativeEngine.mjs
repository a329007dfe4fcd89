/**
 * A plugin of esbuild for the worker of the structural search. Its engine is native code, which cannot be bundled: the worker
 * is told the file in `workerData.engine`.
 */
export const nativeEngine = {
  name: 'native-engine',
  setup(b) {
    b.onResolve({ filter: /^@ast-grep\/napi$/ }, ({ path }) => ({ path, namespace: 'native-engine' }));
    b.onLoad({ filter: /./, namespace: 'native-engine' }, () => ({
      contents: `import { createRequire } from 'node:module';
        import { workerData } from 'node:worker_threads';
        export default createRequire(import.meta.url)(workerData.engine);`,
    }));
  },
};
