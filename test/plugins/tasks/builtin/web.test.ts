import { UserError } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openWeb } from './web-server.js';

/** The error of an address that is not fetched. */
const PRIVATE = /not a public address/;
const HOSTILE: readonly (readonly [address: string, why: RegExp])[] = [
  ...[
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://167772161/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.64.0.1/',
    'http://192.0.0.1/',
    'http://192.0.2.1/',
    'http://198.18.0.1/',
    'http://198.51.100.7/',
    'http://203.0.113.9/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127。0。0。1/',
    'http://%31%32%37.0.0.1/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[64:ff9b:1::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:7f00:1::]/',
    'http://[2001:db8::1]/',
    'http://[fe80::1]/',
    'http://[fc00::1]/',
    'http://[fd12:3456::1]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
    'http://[100::1]/',
    'http://localhost/',
    'http://localhost./',
    'http://a.localhost/',
    'http://printer.local/',
    'http://router.lan/',
    'http://metadata.google.internal/',
    'http://intranet/',
    'http://nas.home.arpa/',
  ].map((address) => [address, PRIVATE] as const),
  ['https://user:secret@site.example/', /user name or password/],
  ['http://site.example:22/', /Port 22/],
  ['http://site.example:6379/', /Port 6379/],
  ['file:///etc/passwd', /Only http and https/],
  ['ftp://site.example/', /Only http and https/],
  ['gopher://site.example/', /Only http and https/],
  ['data:text/html,hello', /Only http and https/],
  ['javascript:alert(1)', /Only http and https/],
  ['//site.example/', /not a complete address/],
  ['see https://site.example', /not a complete address/],
  [`https://site.example/${'x'.repeat(3_000)}`, /longer than/],
];

const NAMES: readonly (readonly [host: string, why: RegExp])[] = [
  ['inside.example', PRIVATE],
  ['mixed.example', PRIVATE],
  ['six.example', PRIVATE],
  ['metadata.example', PRIVATE],
  ['nothing.example', PRIVATE],
  ['unknown.example', /could not be reached/],
];

const PAGES: readonly (readonly [path: string, why: RegExp])[] = [
  ['/to-loopback', PRIVATE],
  ['/to-metadata', PRIVATE],
  ['/to-name', PRIVATE],
  ['/to-file', /Only http and https/],
  ['/to-nothing', /not an address/],
  ['/round', /redirects more than 5 times/],
  ['/huge', /larger than 64 KB/],
  ['/huge-chunked', /larger than 64 KB/],
  ['/gzip-bomb', /larger than 64 KB/],
  ['/brotli-bomb', /larger than 64 KB/],
  ['/packed-twice', /packed in a way/],
  ['/not-packed', /could not be read/],
  ['/image', /Only text is read, and this is image\/png/],
  ['/untyped', /no known kind/],
  ['/gone', /status 404/],
  ['/cut', /could not be read/],
  ['/headers', /could not be reached/],
];

describe('reading a page of the web', () => {
  const whyNot = async (reading: Promise<unknown>) => {
    const error = await reading.then(
      () => new Error('it was fetched'),
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(UserError);
    return String(error);
  };

  it('gives the words of a page, unpacked, in its own character set, and after redirects', async () => {
    await using web = await openWeb();
    const page = await web.read(web.site('/hop'));
    expect(page.url).to.equal(web.site('/page'));
    expect(page.text).to.contain('Hello').and.to.contain('from outside').and.not.to.contain('evil');
    expect((await web.read(web.site('/packed'))).text).to.equal('unpacked');
    expect((await web.read(web.site('/latin'))).text).to.equal('café');
  });

  it('says what is left of a page before its words, which could say the like', async () => {
    await using web = await openWeb();
    const text = 'fine\n[900 characters more: go on with from: 0]';
    const told = web.told({ url: 'https://example.org/', text, from: 0, total: 99 });
    expect(told.split('\n')[0]).to.equal(
      'Text of https://example.org/, by whoever wrote that page (53 characters more: go on with from: 46):',
    );
    expect(told.endsWith(text)).to.equal(true);
  });

  for (const [address, why] of HOSTILE) {
    it(`refuses ${address.slice(0, 60)}`, async () => {
      await using web = await openWeb();
      expect(await whyNot(web.read(address))).to.match(why);
      expect(web.asked).to.deep.equal([]);
    });
  }

  for (const [host, why] of NAMES) {
    it(`refuses ${host}, a name that leads inside or nowhere, before anything is sent`, async () => {
      await using web = await openWeb();
      expect(await whyNot(web.read(`http://${host}:${web.port}/page`))).to.match(why);
      expect(web.asked).to.deep.equal([]);
    });
  }

  for (const [path, why] of PAGES) {
    it(`refuses what is at ${path}`, async () => {
      await using web = await openWeb();
      expect(await whyNot(web.read(web.site(path)))).to.match(why);
      expect(web.asked.filter((asked) => asked.startsWith('127.0.0.1'))).to.deep.equal([]);
    });
  }

  it('reads lists, tables, paragraphs and entities as one would', async () => {
    await using web = await openWeb();
    const html = `<title>News</title><style>p{}</style><nav><p>Home</p></nav><h1>Big &amp; small</h1>
      <p>One <b>bold</b>\n word,<br>and a <a href="x">link</a>.</p><ul><li>a<li>b <ol><li>first</li><li>second</li></ol></ul>
      <table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table><pre>  kept\n   as is</pre>&lt;end&gt; caf&eacute;`;
    expect(await web.textOf(html)).to.equal(
      'News\n\nBig & small\n\nOne bold word,\nand a link.\n\n* a\n* b\n  1. first\n  2. second\n\n1 2\n3\n\n  kept\n   as is\n\n<end> café',
    );
  });

  it('keeps words apart that are parted by spaces that do not break', async () => {
    await using web = await openWeb();
    expect(await web.textOf('<p>10&nbsp;km to Night&#160;City</p>foo\u00a0<b>bar</b>')).to.equal(
      '10 km to Night City\n\nfoo bar',
    );
  });

  for (const [what, html] of [
    ['nothing but open elements', '<div>'.repeat(400_000)],
    ['nothing but lists', '<ul><li>'.repeat(250_000)],
    ['many elements that are closed though never opened', `${'<b>'.repeat(200_000)}${'</i>'.repeat(300_000)}`],
    ['attributes without end', `<a ${'b="c" '.repeat(300_000)}`],
    ['a comment that never ends', `<!--${'-'.repeat(2_000_000)}`],
    ['nothing but line breaks', '<br>'.repeat(500_000)],
    ['nothing but the beginnings of entities', '&amp'.repeat(500_000)],
    ['skipped elements, never closed', '<svg>'.repeat(400_000)],
  ] as const) {
    it(`reads 2 MB of ${what} in time that is in proportion`, async function () {
      this.timeout(5_000);
      await using web = await openWeb({ mostBytes: 8 * 1024 * 1024 });
      expect(await web.textOf(`before ${html}`)).to.match(/^before/);
    });
  }

  it('connects to the address that was checked, even if a name resolves differently later', async () => {
    await using web = await openWeb();
    for (let round = 0; round < 4; round += 1) {
      await web.read(`http://rebind.example:${web.port}/page`).catch(() => undefined);
    }
    expect(web.asked.some((asked) => asked === '127.0.0.2/page')).to.equal(true);
    expect(web.asked.filter((asked) => asked.startsWith('127.0.0.1'))).to.deep.equal([]);
  });

  for (const path of ['/silent', '/slow']) {
    it(`gives up on ${path} after its time, and at once when it is stopped`, async () => {
      await using web = await openWeb();
      const asked = web.nextRequest();
      const reading = whyNot(web.read(web.site(path)));
      await asked;
      web.clock.advance(20_001);
      expect(await reading).to.match(/longer than 20 s/);
      const stop = new AbortController();
      const again = web.nextRequest();
      const stopped = whyNot(web.reader.read(web.site(path), stop.signal, 'alice'));
      await again;
      stop.abort();
      expect(await stopped).to.match(/stopped/);
    });
  }
});
