import * as z from 'zod/mini';

// Imported before any schema: zod would otherwise compile its validators with `new Function`, which the webview's content
// security policy forbids.
z.config({ jitless: true });
