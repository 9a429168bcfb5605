import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { imagesIn } from './harness.js';

type ImageLimits = NonNullable<Parameters<typeof imagesIn>[1]['limits']>;

const PNG = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(92)]);
const URL_OF = (name: string) => `https://cdn.discordapp.com/attachments/1/2/${name}?ex=ffffffff&is=2&hm=3`;
describe('chat history: images', () => {
  let folder: string;
  let clock: ManualClock;
  let asked: string[];
  let answer: (url: string, init: RequestInit | undefined) => Response | Promise<Response>;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cinnabar-images-'));
    clock = createManualClock();
    asked = [];
    answer = () => new Response(PNG);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const open = (limits: ImageLimits = {}, api?: string) =>
    imagesIn(folder, {
      clock,
      limits,
      api,
      fetch: async (input, init) => {
        asked.push(String(input));
        return answer(String(input), init);
      },
    });
  const attached = (url: string, sizeBytes = PNG.byteLength) => ({
    url,
    name: 'x.png',
    contentType: 'image/png',
    sizeBytes,
  });

  it('are fetched once, kept under the hash of their lasting address, and found again by the next process', async () => {
    const images = open();
    const image = await images.load(attached(URL_OF('a.png')));
    expect(image).to.deep.equal({ mediaType: 'image/png', base64: PNG.toString('base64'), sizeBytes: 100 });
    expect(await images.load(attached(URL_OF('a.png').replace('ex=ffffffff', 'ex=fffffff9')))).to.deep.equal(image);
    expect(await open().load(attached(URL_OF('a.png')))).to.deep.equal(image);
    expect(asked).to.have.length(1);
    const hash = createHash('sha256').update('https://cdn.discordapp.com/attachments/1/2/a.png').digest('hex');
    expect(await readdir(folder)).to.deep.equal([`${hash}.png`]);
  });

  it('are known by their content, not by their name or headers', async () => {
    const contents: Readonly<Record<string, Buffer>> = {
      'image/png': PNG,
      'image/jpeg': Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]),
      'image/gif': Buffer.from('GIF89a......'),
      'image/webp': Buffer.from('RIFF\0\0\0\0WEBPVP8 '),
    };
    const images = open();
    for (const [mediaType, bytes] of Object.entries(contents)) {
      answer = () => new Response(bytes, { headers: { 'content-type': 'text/plain' } });
      expect(await images.load(attached(URL_OF(mediaType.replace('/', '.'))))).to.include({ mediaType });
    }
    answer = () => new Response('<svg/>', { headers: { 'content-type': 'image/png' } });
    expect(await images.load(attached(URL_OF('page.png')))).to.equal(undefined);
  });

  it('come from Discord’s own hosts alone', async () => {
    const images = open();
    for (const url of [
      'http://cdn.discordapp.com/a.png',
      'https://cdn.discordapp.com:8443/a.png',
      'https://me:secret@cdn.discordapp.com/a.png',
      'https://cdn.discordapp.com.example.org/a.png',
      'https://example.org/cdn.discordapp.com/a.png',
      'https://127.0.0.1/cdn/a.png',
      'file:///etc/passwd',
      'not an address',
    ]) {
      expect(await images.load(attached(url)), url).to.equal(undefined);
    }
    expect(asked).to.deep.equal([]);
    expect(await images.load(attached('https://media.discordapp.net/attachments/a.png'))).to.include({
      sizeBytes: 100,
    });
  });

  it('come from a stand-in for Discord as well, but only its files', async () => {
    const images = open({}, 'http://127.0.0.1:4000/api');
    expect(await images.load(attached('http://127.0.0.1:4000/cdn/attachments/a.png'))).to.include({ sizeBytes: 100 });
    expect(await images.load(attached('http://127.0.0.1:4000/api/v10/users/@me'))).to.equal(undefined);
    expect(await images.load(attached('http://127.0.0.1:4001/cdn/attachments/a.png'))).to.equal(undefined);
    const proxied = open({}, 'http://proxy.example.org:8080/api');
    expect(await proxied.load(attached('http://proxy.example.org:8080/cdn/a.png'))).to.equal(undefined);
    expect(await proxied.load(attached(URL_OF('b.png')))).to.include({ sizeBytes: 100 });
  });

  it('are loaded from the local Discord', async () => {
    await using discord = await startLocalDiscord();
    const you = discord.createUser({ name: 'you' });
    const guild = discord.createGuild({ name: 'Night City', owner: you });
    const said = you.say(guild.createChannel({ name: 'general' }), '', { files: [{ name: 'x.png', data: PNG }] });
    const images = imagesIn(folder, { clock, api: discord.api });
    expect(await images.load(attached(said.attachments[0]?.url ?? ''))).to.include({ mediaType: 'image/png' });
  });

  it('are not followed elsewhere', async () => {
    const images = open();
    answer = (_url, init) => {
      expect(init?.redirect).to.equal('manual');
      return Response.redirect('http://169.254.169.254/latest', 302);
    };
    expect(await images.load(attached(URL_OF('a.png')))).to.equal(undefined);
    expect(asked).to.have.length(1);
  });

  it('are left out when they are too large, however they announce themselves', async () => {
    const images = open({ maxBytes: 50 });
    expect(await images.load(attached(URL_OF('told.png'), 51))).to.equal(undefined);
    expect(asked).to.deep.equal([]);
    answer = () => new Response(PNG, { headers: { 'content-length': '100' } });
    expect(await images.load(attached(URL_OF('header.png'), 10))).to.equal(undefined);
    let sent = 0;
    answer = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sent += 1;
            controller.enqueue(Buffer.alloc(20));
          },
        }),
      );
    expect(await images.load(attached(URL_OF('endless.png'), 10))).to.equal(undefined);
    expect(sent).to.be.lessThan(10);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it('keep to what the caller allows', async () => {
    const images = open();
    expect(await images.load(attached(URL_OF('a.png'), 1), { maxBytes: 99 })).to.equal(undefined);
    expect(await images.load(attached(URL_OF('a.png'), 1), { maxBytes: 100 })).to.include({ sizeBytes: 100 });
    expect(asked).to.have.length(1);
  });

  it('are downloaded once however many ask at the same time', async () => {
    const images = open();
    const all = await Promise.all(Array.from({ length: 5 }, () => images.load(attached(URL_OF('a.png')))));
    expect(all.every((image) => image?.sizeBytes === 100)).to.equal(true);
    expect(asked).to.have.length(1);
  });

  it('do not take longer than the time limit', async () => {
    const images = open({ timeoutMs: 5_000 });
    let started: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      started = resolve;
    });
    answer = (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        started();
      });
    const loading = images.load(attached(URL_OF('slow.png')));
    await begun;
    clock.advance(5_000);
    expect(await loading).to.equal(undefined);
    expect(clock.pending).to.equal(0);
  });

  it('that are gone are left alone for a while, those that failed for a moment', async () => {
    const images = open();
    for (const [status, minutes] of [
      [404, 30],
      [503, 1],
    ] as const) {
      asked = [];
      const url = URL_OF(`${status}.png`);
      answer = () => new Response('', { status });
      await images.load(attached(url));
      await images.load(attached(url));
      expect(asked).to.have.length(1);
      answer = () => new Response(PNG);
      clock.advance(minutes * 60_000 + 1);
      expect(await images.load(attached(url))).to.include({ sizeBytes: 100 });
    }
  });

  it('are thrown away after a day', async () => {
    const images = open();
    await images.load(attached(URL_OF('a.png')));
    clock.advance(23 * 3_600_000);
    await images.load(attached(URL_OF('a.png')));
    expect(asked).to.have.length(1);
    clock.advance(3_600_000);
    await images.load(attached(URL_OF('a.png')));
    expect(asked).to.have.length(2);
  });

  it('make room for new ones, the oldest first', async () => {
    const images = open({ maxTotalBytes: 250 });
    for (const name of ['a.png', 'b.png', 'c.png']) {
      await images.load(attached(URL_OF(name)));
      clock.advance(1_000);
    }
    expect(await readdir(folder)).to.have.length(2);
    asked = [];
    await open({ maxTotalBytes: 250 }).load(attached(URL_OF('b.png')));
    expect(asked).to.deep.equal([]);
    await images.load(attached(URL_OF('a.png')));
    expect(asked).to.have.length(1);
  });

  it('survive a process that was killed while it wrote, or a file that was damaged', async () => {
    await open().load(attached(URL_OF('a.png')));
    const [name = ''] = await readdir(folder);
    await writeFile(join(folder, `${'0'.repeat(64)}.png.part`), 'half an im');
    await writeFile(join(folder, name), 'not an image');
    const kept = clock.now() / 1_000;
    await utimes(join(folder, name), kept, kept);
    expect(await open().load(attached(URL_OF('a.png')))).to.include({ sizeBytes: 100 });
    expect(await readdir(folder)).to.deep.equal([name]);
    expect(await readFile(join(folder, name))).to.deep.equal(PNG);
  });
});
