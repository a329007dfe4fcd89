/**
 * The parts of the official SDK that the server of a window uses. The build puts this module into a file of its own: if it were
 * split like the rest, the modules of zod that it shares with the entry would be loaded at activation.
 */
export {
  createMcpHandler,
  isLegacyRequest,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
