import * as z from 'zod';

// Imported before any schema: zod would try to compile its validators with `new Function`, which the content security
// policy of the webview forbids.
z.config({ jitless: true });
