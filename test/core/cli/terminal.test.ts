import type { CommandInfo } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  ESCAPE,
  hasBrowserAt,
  openStage,
  openTerminal,
  refusalOf,
  rendered,
  type Stage,
  sitDown,
} from './console-harness.js';

describe('the console at a terminal', () => {
  it('keeps the typed line intact while messages arrive in any order', async () => {
    const step = fc.oneof(
      fc.constantFrom('a', 'b', 'hello ', 'Ω').map((key) => ({ key })),
      fc.constantFrom('m1 Cinnabar: one', 'm2 Cinnabar: two\nlines').map((line) => ({ line })),
      fc.constantFrom('Cinnabar', undefined).map((name) => ({ name })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const terminal = openTerminal();
        let keys = '';
        const printed: string[] = [];
        let typing: string | undefined;
        for (const each of steps) {
          if ('key' in each) {
            keys += each.key;
            await terminal.type(each.key);
          } else if ('line' in each) {
            printed.push(...each.line.split('\n'));
            terminal.window.print(each.line);
          } else {
            typing = each.name;
            terminal.window.typing(each.name);
          }
        }
        const prompt = `#general${typing === undefined ? '' : ` (${typing} is typing …)`}> ${keys}`.trimEnd();
        expect(terminal.screen()).to.deep.equal([...printed, prompt]);
        await terminal.type(String.fromCharCode(21, 4));
        await terminal.ended;
      }),
      { numRuns: 40 },
    );
  });

  it('plays lines that are typed ahead one after another, in order', async () => {
    const terminal = openTerminal();
    await terminal.type('one\rtwo\rhalf of thr');
    expect(terminal.typed).to.deep.equal(['one']);
    expect(terminal.screen().at(-1)).to.equal('#general> half of thr');
    await terminal.finish();
    expect(terminal.typed).to.deep.equal(['one', 'two']);
    await terminal.type('ee\r');
    await terminal.finish();
    expect(terminal.typed).to.deep.equal(['one', 'two', 'half of three']);
    expect(terminal.screen()).to.include('m3 you: half of three');
    await terminal.finish();
    terminal.leave();
    await terminal.ended;
  });

  it('shows an own line as the message that it became, with its id', async () => {
    const terminal = openTerminal();
    await terminal.type('hello\r');
    await terminal.finish();
    expect(terminal.screen()).to.deep.equal(['m1 you: hello', '#general>']);
    terminal.leave();
    await terminal.ended;
  });

  it('completes with Tab, brings lines of earlier runs back, keeps new ones, and leaves at exit', async () => {
    const terminal = openTerminal();
    await terminal.type(`${ESCAPE}[A\r`);
    expect(terminal.typed).to.deep.equal(['!help party']);
    await terminal.finish();
    await terminal.type('!he');
    await terminal.type('\t');
    await terminal.type('x\r');
    expect(terminal.typed.at(-1)).to.equal('!help x');
    await terminal.finish();
    expect(terminal.saved.at(-1)?.slice(0, 2)).to.deep.equal(['!help x', '!help party']);
    await terminal.type('exit\r');
    await terminal.finish();
    await terminal.ended;
  });

  it('renders Markdown, and leaves what is no Markdown alone', () => {
    const marked = (text: string) => rendered(text, (kind, inner) => `<${kind}:${inner}>`);
    expect(marked('**V** – *Solo* ~~old~~ `a*b*` __u__')).to.equal(
      '<bold:V> – <italic:Solo> <strikethrough:old> <cyan:a*b*> <underline:u>',
    );
    expect(marked('# Title\n-# small\n> said\n```ts\nlet a = **1**;\n```')).to.equal(
      '<bold:Title>\n<dim:small>\n<dim:│> said\n<cyan:let a = **1**;>',
    );
    const plain = '12 * (3+4), snake_case_name, a * b, 100 %, [x]';
    expect(rendered(plain.replace('*', '\\*'))).to.equal(plain);
  });
});

const command = (name: string, more: Partial<CommandInfo> = {}): CommandInfo => ({
  plugin: 'test',
  name,
  aliases: [],
  description: name,
  usage: '',
  options: [],
  examples: [],
  access: {},
  surface: 'both',
  ...more,
});
const text = { description: '', type: 'text' };
const COMMANDS: readonly CommandInfo[] = [
  command('relay agent', {
    options: [
      { ...text, name: 'id', required: true },
      { ...text, name: 'name', required: false },
      { ...text, name: 'tone', required: false },
    ],
  }),
  command('relay enable'),
  command('remind', { aliases: ['r'], surface: 'prefix' }),
  command('slashonly', { surface: 'slash' }),
];

describe('the console’s places and people', () => {
  let stage: Stage;
  let lines: readonly string[];
  let play: (line: string) => Promise<readonly string[]>;
  let complete: (line: string) => Promise<readonly string[]>;
  before(async () => {
    const clock = createManualClock(Date.UTC(2026, 5, 1));
    stage = await openStage(clock, ['alice']);
    const seat = sitDown(stage, { clock });
    ({ lines, play } = seat);
    complete = seat.completing(COMMANDS);
    stage.application.user.say(stage.channel, 'hello');
  });
  after(() => stage.discord.close());

  it('make mentions of names, and names of mentions', async () => {
    expect(await play('hey @Cinnabar, ask @alice about #general.')).to.deep.equal([
      'm2 you: hey @Cinnabar, ask @alice about #general.',
    ]);
    expect(stage.channel.messages.at(-1)?.mentions.users.map(({ username }) => username)).to.deep.equal([
      'Cinnabar',
      'alice',
    ]);
    expect(await play('mail me@example.com, @everybody')).to.deep.equal(['m3 you: mail me@example.com, @everybody']);
  });

  it('answer, change and remove messages, send files, and show the id of every line', async () => {
    expect(await play('@alice: reply m1 hi!')).to.deep.equal(['m4 alice ↪ m1: hi!']);
    expect(await play('edit m2 changed')).to.deep.equal(['m2* you: changed']);
    expect(await play('delete m3')).to.deep.equal(['m3 deleted']);
    expect(await play('attach LICENSE "the licence"')).to.have.lengthOf(1);
    expect(lines.at(-1)).to.match(/^m5 you: "the licence"\n\[file LICENSE, \d+ bytes\]$/);
    expect(await play('wait 61s')).to.deep.equal(['it is 2026-06-01 00:01:01 UTC now']);
  });

  it('lead to other channels, threads and direct messages, and say where a message was written', async () => {
    expect(await play('channel dev')).to.deep.equal(['now in #dev']);
    stage.application.user.say(stage.channel, 'elsewhere');
    expect(lines.at(-1)).to.equal('m6 [#general] Cinnabar: elsewhere'.replace('m6 [#general]', 'm6 [#general]'));
    expect(await play('go dm')).to.deep.equal(['now in DM']);
    expect(await play('psst')).to.deep.equal(['m7 you: psst']);
    await play('go #general');
    expect((await play('thread m1 a story')).at(-1)).to.equal('now in thread a story');
    expect((await play('where'))[0]).to.match(
      /^You are in thread a story\. Channels: #general, #dev, thread a story\./,
    );
  });

  it('make roles, give them to members, and let them be mentioned', async () => {
    expect(await play('role Crew')).to.deep.equal(['role @Crew: nobody yet']);
    expect(await play('role crew and the rest of it')).to.have.lengthOf(1);
    expect(await play('role Crew KickMembers banmembers @alice')).to.deep.equal([
      'role @Crew (KickMembers, BanMembers): @alice',
    ]);
    expect(await play('role Crew @zoe')).to.deep.equal(['role @Crew (KickMembers, BanMembers): @alice, @zoe']);
    await play('go #general');
    expect((await play('hear me, @Crew!'))[0]).to.include('you: hear me, @Crew!');
    expect(stage.channel.messages.at(-1)?.mentions.roles.map(({ name }) => name)).to.deep.equal(['Crew']);
    const refused = await refusalOf(play('role Crew Flying'));
    expect(refused).to.match(/^There is no permission "Flying"; members are written @Flying\. .*KickMembers/);
    expect((await play('where'))[0]).to.match(/Roles: @Crew\.$/);
  });

  it('complete people, channels, messages and verbs', async () => {
    expect(await complete('@al')).to.deep.equal(['@alice: ']);
    expect(await complete('hey @al')).to.deep.equal(['@alice ']);
    expect(await complete('go #d')).to.deep.equal(['#dev ']);
    expect(await complete('reply m1')).to.include('m1 ');
    expect(await complete('wa')).to.deep.equal(['wait ']);
  });

  it('complete prefix commands, their aliases, and their options', async () => {
    expect(await complete('!re')).to.deep.equal(['!relay ', '!remind ']);
    expect(await complete('!relay a')).to.deep.equal(['agent ']);
    expect(await complete('!relay agent ')).to.deep.equal(['name:', 'tone:']);
    expect(await complete('!relay agent x name:V t')).to.deep.equal(['tone:']);
    expect(await complete('@alice: !r')).to.deep.equal(['!relay ', '!remind ', '!r ']);
    expect(await complete('!slashonly')).to.deep.equal([]);
    expect(await complete('!nothing x')).to.deep.equal([]);
  });
});

describe('the console’s page in a browser', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage(createManualClock(Date.UTC(2026, 5, 1)), ['alice'], '.');
  });
  after(() => stage.discord.close());

  it('opens as the member who asks, without the key, and the console goes on while the browser takes its time', async () => {
    const opened: string[] = [];
    const { lines, type } = sitDown(stage, {
      openPage(address) {
        opened.push(address);
        return new Promise(() => undefined);
      },
    });
    await type('@alice: open');
    await type('hello');
    expect(lines).to.deep.equal(['Opening the page in your browser …', 'm1 you: hello']);
    const [address = ''] = opened;
    expect(address).not.to.include('key');
    const answer = await fetch(address, { redirect: 'manual' });
    expect(answer.headers.get('location')).to.equal(stage.discord.clientAddress(stage.member('alice')));
  });

  it('says why no browser opens, and where the page is', async () => {
    const { lines, type } = sitDown(stage, { openPage: () => Promise.reject(new Error('spawn xdg-open ENOENT')) });
    await type('open');
    await new Promise(setImmediate);
    expect(lines.at(-1)).to.equal(
      `No browser could be opened (spawn xdg-open ENOENT). The page is at ${stage.discord.clientAddress(stage.you)}`,
    );
  });

  it('is for people who sit at a terminal', async () => {
    expect(await refusalOf(sitDown(stage).type('open'))).to.match(/from a terminal only/);
    expect(hasBrowserAt({ isTTY: true }, {})).to.equal(true);
    expect(hasBrowserAt({ isTTY: true }, { CI: 'false' })).to.equal(true);
    expect(hasBrowserAt({ isTTY: true }, { CI: 'true' })).to.equal(false);
    expect(hasBrowserAt({ isTTY: false }, {})).to.equal(false);
  });
});
