/** Loaded into each Windows Node under Wine: Wine 8 refuses the keep-alive of sockets, with which `fetch` connects. */
const { TCP } = process.binding('tcp_wrap');
TCP.prototype.setKeepAlive = () => 0;
