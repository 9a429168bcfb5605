import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { startLocalDiscord, type UserAct } from '@cinnabar/local-discord';
import { expect } from 'chai';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import { type NightCity, nightCity } from './support.js';

const KEY = 'the-key';
/** JavaScript's messages for programming errors, which must not reach people. */
const DEFECT = /undefined|is not a function|is not iterable|Cannot read|\[object/;

interface Frame {
  readonly event?: string;
  readonly re?: number | null;
  readonly ok?: Record<string, unknown>;
  readonly error?: string;
}

describe('local Discord: what pages in a browser may do', () => {
  let city: NightCity;
  const sockets: WebSocket[] = [];
  beforeEach(async () => {
    city = await nightCity({ users: { key: KEY } });
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.terminate();
    await city.close();
  });

  const dial = (as: string, { key = KEY, origin = city.discord.url }: { key?: string; origin?: string } = {}) => {
    const url = new URL(`/local/users?${new URLSearchParams({ key, as })}`, city.discord.url);
    url.protocol = 'ws:';
    const socket = new WebSocket(url, origin === '' ? {} : { origin });
    sockets.push(socket);
    return socket;
  };
  /** A page of that member: the received events, and functions for acts. */
  const visit = async (user: { id: string }) => {
    const socket = dial(user.id);
    const frames: Frame[] = [];
    const waiting: ((frame: Frame) => void)[] = [];
    socket.on('message', (data) => {
      const frame: Frame = JSON.parse(String(data));
      frames.push(frame);
      if (frame.event === undefined) waiting.shift()?.(frame);
    });
    await once(socket, 'message');
    const send = (text: string | Buffer) =>
      new Promise<Frame>((resolve) => {
        waiting.push(resolve);
        socket.send(text);
      });
    const act = (what: UserAct) => send(JSON.stringify({ id: 1, ...what }));
    return { socket, frames, send, act };
  };

  it('refuses clients without the key, as a bot, or from a page of another origin', async () => {
    for (const [as, key, code] of [
      [city.you.id, 'wrong', 4001],
      [city.you.id, '', 4001],
      ['1', KEY, 4004],
      ['', KEY, 4004],
      [city.app.id, KEY, 4004],
    ] as const) {
      const [closed] = await once(dial(as, { key }), 'close');
      expect(closed, `${as} ${key}`).to.equal(code);
    }
    for (const origin of ['', 'null', 'https://example.org', city.discord.url.replace('127.0.0.1', 'localhost')]) {
      const [error] = await once(dial(city.you.id, { origin }), 'error');
      expect(String(error), origin).to.match(/403|socket hang up/);
    }
  });

  it('shows and does nothing in a channel that the member cannot view', async () => {
    const { alice, you, guild } = city;
    const secret = guild.createChannel({ name: 'secret' });
    guild.overwrite(secret, { for: guild.everyone, deny: ['ViewChannel'] });
    const message = you.say(secret, 'the code is 4711');
    const hers = await visit(alice);
    const target = { channel: secret.id, message: message.id };
    const acts: UserAct[] = [
      { act: 'messages', channel: secret.id },
      { act: 'say', channel: secret.id, content: 'hi' },
      { act: 'edit', ...target, content: 'hi' },
      { act: 'delete', ...target },
      { act: 'react', ...target, emoji: '👍' },
      { act: 'unreact', ...target, emoji: '👍' },
      { act: 'click', ...target, button: 'Ok' },
      { act: 'select', ...target, menu: 'Menu', values: [] },
      { act: 'commands', channel: secret.id },
      { act: 'slash', channel: secret.id, command: 'help', options: {} },
      { act: 'autocomplete', channel: secret.id, command: 'help', focused: 'a', typed: '', options: {} },
      { act: 'typing', channel: secret.id },
      { act: 'ack', ...target },
      { act: 'startThread', ...target, name: 'mine' },
    ];
    for (const what of acts) expect((await hers.act(what)).error, what.act).to.equal('Missing Access');
    you.edit(message, 'the code is 4712');
    you.react(message, '👍');
    you.typing(secret);
    you.delete(message);
    await hers.act({ act: 'ping' });
    expect(JSON.stringify(hers.frames)).to.not.match(/471[12]|secret/);
  });

  it('leaves messages of others to them, and to those who may manage messages', async () => {
    const { alice, you, general } = city;
    const [hers, mine] = [await visit(alice), await visit(you)];
    const [message, own] = [you.say(general, 'mine'), alice.say(general, 'hers')];
    const target = { channel: general.id, message: message.id };
    expect((await hers.act({ act: 'delete', ...target })).error).to.equal('Missing Permissions');
    expect((await hers.act({ act: 'edit', ...target, content: 'hers' })).error).to.match(/another user/);
    expect((await mine.act({ act: 'delete', channel: general.id, message: own.id })).ok).to.deep.equal({});
    expect(general.messages).to.deep.equal([message]);
  });

  it('opens a DM with people of the same server, and with those who have written', async () => {
    const { alice, discord, guild } = city;
    const hers = await visit(alice);
    const stranger = discord.createUser({ name: 'stranger' });
    const open = (user: string) => hers.act({ act: 'openDm', user });
    expect((await open(stranger.id)).error).to.equal('You can write to people with whom you share a server.');
    expect((await open('1')).error).to.equal('There is no such person.');
    expect(alice.dms.size).to.equal(0);
    const { id } = stranger.openDm(alice);
    expect((await open(stranger.id)).ok).to.deep.equal({ channel: id });
    const neighbour = discord.createUser({ name: 'neighbour' });
    guild.join(neighbour);
    expect((await open(neighbour.id)).ok).to.have.property('channel');
  });

  it('tells once of many who join together, and counts what is said meanwhile', async () => {
    const { frames, act } = await visit(city.you);
    const before = frames.length;
    for (let number = 0; number < 500; number++) city.guild.join(city.discord.createUser({ name: `member${number}` }));
    const late = city.guild.createChannel({ name: 'late' });
    city.alice.say(late, 'hello');
    await act({ act: 'ping' });
    const told = frames.slice(before).filter(({ event }) => event === 'snapshot');
    expect(told).to.have.lengthOf(1);
    const text = JSON.stringify(told[0]);
    expect(text)
      .to.include('"name":"member499"')
      .and.to.match(/"name":"late"[^}]*"unread":1/);
  });

  it('sends a DM or an ephemeral message to no one else', async () => {
    const { alice, you, general } = city;
    const client = await city.login();
    await client.application.commands.set([{ name: 'note', description: 'A note' }], city.guild.id);
    client.on('interactionCreate', async (interaction) => {
      if (interaction.isChatInputCommand()) await interaction.reply({ content: 'for you alone', flags: 64 });
    });
    const [hers, mine] = [await visit(alice), await visit(you)];
    expect((await mine.act({ act: 'slash', channel: general.id, command: 'note', options: {} })).error).to.equal(
      undefined,
    );
    await city.discord.settled();
    const dm = you.openDm(city.app);
    you.say(dm, 'between us');
    const note = you.read(general).find(({ ephemeral }) => ephemeral);
    if (note === undefined) throw new Error('There is no note.');
    expect((await mine.act({ act: 'messages', channel: general.id })).ok?.messages).to.have.length(1);
    expect((await hers.act({ act: 'messages', channel: general.id })).ok?.messages).to.have.length(0);
    expect((await hers.act({ act: 'messages', channel: dm.id })).error).to.equal('Missing Access');
    const target = { channel: general.id, message: note.id };
    for (const act of ['delete', 'ack'] as const) await hers.act({ act, ...target });
    expect((await hers.act({ act: 'react', ...target, emoji: '👍' })).error).to.match(/not there/);
    await hers.act({ act: 'snapshot' });
    expect(JSON.stringify(hers.frames)).to.not.match(/for you alone|between us/);
    expect(JSON.stringify(mine.frames))
      .to.match(/for you alone/)
      .and.to.match(/between us/);
  });

  it('tells of roles as they change', async () => {
    const { alice, guild } = city;
    const hers = await visit(alice);
    const last = () => JSON.stringify(hers.frames.filter(({ event }) => event === 'snapshot').at(-1));
    const role = guild.createRole({ name: 'Solo' });
    await hers.act({ act: 'ping' });
    expect(last()).to.include('Solo');
    guild.editRole(role, { name: 'Netrunner' });
    await hers.act({ act: 'ping' });
    expect(last()).to.include('Netrunner').and.not.to.include('Solo');
    guild.deleteRole(role);
    await hers.act({ act: 'ping' });
    expect(last()).to.not.include('Netrunner');
  });

  it('answers whatever JSON comes with a sentence, and goes on', async () => {
    const { alice, you, general } = city;
    const hers = await visit(alice);
    const message = you.say(general, 'hello');
    const ids = [general.id, message.id, alice.id, city.guild.id, '0', '-1', '', '__proto__'];
    const id = fc.oneof(fc.constantFrom(...ids), fc.jsonValue());
    const acts = ['messages', 'say', 'edit', 'delete', 'react', 'unreact', 'click', 'select', 'submit', 'commands'];
    const more = ['slash', 'autocomplete', 'typing', 'ack', 'openDm', 'startThread', 'advance', 'snapshot', 'nothing'];
    const act = fc.record(
      {
        id: fc.oneof({ weight: 9, arbitrary: fc.nat() }, { weight: 1, arbitrary: fc.jsonValue() }),
        act: fc.constantFrom(...acts, ...more),
        channel: id,
        message: id,
        interaction: id,
        user: id,
        content: fc.oneof(fc.string(), fc.jsonValue()),
        emoji: fc.oneof(fc.constantFrom('👍', 'a:1', '::'), fc.jsonValue()),
        button: fc.string(),
        menu: fc.string(),
        command: fc.oneof(fc.string(), fc.constantFrom('constructor', '__proto__')),
        focused: fc.string(),
        typed: fc.string(),
        name: fc.string(),
        ms: fc.oneof(fc.integer(), fc.jsonValue()),
        values: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
        fields: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.jsonValue()),
        options: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.jsonValue()),
        files: fc.oneof(
          fc.array(fc.record({ name: fc.string(), data: fc.constantFrom('', 'YQ==', '?') })),
          fc.jsonValue(),
        ),
        replyTo: id,
        before: id,
      },
      { requiredKeys: ['id', 'act'] },
    );
    const text = fc.oneof(
      { weight: 6, arbitrary: act.map((json) => JSON.stringify(json)) },
      { weight: 1, arbitrary: fc.json() },
      { weight: 1, arbitrary: fc.string() },
    );
    await fc.assert(
      fc.asyncProperty(text, async (sent) => {
        const { ok, error = '' } = await hers.send(sent);
        if (ok === undefined) expect(error, sent).to.match(/\S/).and.not.to.match(DEFECT);
      }),
      { numRuns: 500 },
    );
    expect((await hers.act({ act: 'ping' })).ok).to.have.property('now');
  });

  it('closes a connection that sends too much, and that one alone', async () => {
    const [hers, mine] = [await visit(city.alice), await visit(city.you)];
    hers.socket.send(Buffer.alloc(25 * 1024 * 1024, 0x20));
    const [code] = await once(hers.socket, 'close');
    expect(code).to.be.oneOf([1006, 1009]);
    expect((await mine.act({ act: 'ping' })).ok).to.have.property('now');
  });

  it('goes on after a request whose path is none', async () => {
    const mine = await visit(city.you);
    const { port } = new URL(city.discord.url);
    for (const path of ['//', '/local/users?%', 'http://', '*'])
      for (const upgrade of ['', 'Connection: Upgrade\r\nUpgrade: websocket\r\n']) {
        const socket = connect(Number(port), '127.0.0.1');
        socket.end(`GET ${path} HTTP/1.1\r\nHost: x\r\n${upgrade || 'Connection: close\r\n'}\r\n`);
        socket.resume();
        await once(socket, 'close');
      }
    expect((await mine.act({ act: 'ping' })).ok).to.have.property('now');
  });
});

describe('local Discord: the page in a browser', () => {
  it('comes compressed to who takes that, and nothing beside it comes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cinnabar-page-'));
    mkdirSync(join(folder, 'public', 'assets'), { recursive: true });
    const script = 'console.log("hello");'.repeat(500);
    writeFileSync(join(folder, 'public', 'assets', 'index-1.js'), script);
    writeFileSync(join(folder, 'beside.js'), 'secret');
    const discord = await startLocalDiscord({ users: { page: join(folder, 'public') } });
    const fetched = async (path: string, encoding: string) => {
      const request = get(`${discord.url}${path}`, { headers: { 'accept-encoding': encoding } });
      const [response]: IncomingMessage[] = await once(request, 'response');
      const chunks: Buffer[] = [];
      for await (const chunk of response ?? []) chunks.push(chunk);
      return { response, body: Buffer.concat(chunks) };
    };
    try {
      for (const _ of ['the first', 'the second']) {
        const { response, body } = await fetched('/client/assets/index-1.js', 'gzip, br');
        expect(response?.headers).to.include({ 'content-encoding': 'br', vary: 'accept-encoding' });
        expect(body.length).to.be.lessThan(script.length / 10);
        expect(brotliDecompressSync(body).toString()).to.equal(script);
      }
      const plain = await fetched('/client/assets/index-1.js', 'gzip');
      expect(plain.response?.headers).not.to.have.property('content-encoding');
      expect(plain.body.toString()).to.equal(script);
      for (const path of ['/client/..%2fbeside.js', '/client/assets/../../beside.js', '/client/none.js'])
        expect((await fetched(path, 'br')).body.toString(), path).not.to.include('secret');
    } finally {
      await discord.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is reached once, and for a minute, by an address that holds no key', async () => {
    let now = Date.UTC(2026, 0, 1);
    await using discord = await startLocalDiscord({ clock: { now: () => now }, users: { page: '.', key: KEY } });
    const you = discord.createUser({ name: 'you' });
    const visit = async (address: string) => {
      const { status, headers } = await fetch(address, { redirect: 'manual' });
      return { status, location: headers.get('location') };
    };
    const [first, second] = [discord.entryAddress(you), discord.entryAddress(you)];
    expect(second).not.to.include(KEY);
    const gone = { status: 410, location: null };
    expect(await visit(first), 'another has been asked for').to.deep.equal(gone);
    expect(await visit(second)).to.deep.equal({ status: 303, location: discord.clientAddress(you) });
    expect(await visit(second), 'used').to.deep.equal(gone);
    const late = discord.entryAddress(you);
    now += 60_001;
    expect(await visit(late), 'too old').to.deep.equal(gone);
  });
});
