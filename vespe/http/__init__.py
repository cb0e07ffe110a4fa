"""One bounded, address-checked HTTP exchange: sockets, deadlines, bodies, server-sent events.

Uses `errors`, `defaults` and `lazy`. No other package opens a connection. Begin with `client.py`;
`addresses.py` says which hosts may be dialled.

Why our own client around httpcore2's pool and TLS: a model chooses what is requested, so an address
must be judged when it is dialled, every wait must end, and every body has a bound.

What does not work:

- Judging the URL: a public name may resolve to 127.0.0.1, or to something else the second time (DNS
  rebinding). `sockets.Dialler` resolves once, judges every address, and dials the one that it
  judged.
- Judging text: 0x7f.1 and 2130706433 are 127.0.0.1 to inet_aton(3)
  (https://man7.org/linux/man-pages/man3/inet_aton.3.html), and IPv6 has six ways to carry an IPv4
  address. `addresses.parse_url` refuses the first kind, `why_denied` judges the second by what it
  carries.
- A timeout for each read: a server that sends one byte a second never reaches it. `sockets.Limits`
  has one deadline over all of it, and one over silence.
- getaddrinfo(3) has no timeout and cannot be cancelled: it runs in a thread that is left behind.
- Content-Length as the bound: a compressed body grows a thousandfold. Both sizes are counted as
  they come.
- Following redirects in a library: each must be judged anew, and credentials must not go to another
  origin (RFC 9110 section 15.4, https://www.rfc-editor.org/rfc/rfc9110#section-15.4).
- `HTTP_PROXY` and `.netrc` are not read: a proxy would dial for us, unjudged.
"""
