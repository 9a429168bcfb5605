import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { openConsole } from '../core/cli/console-harness.js';
import { useFolder } from '../core/plugins/support/folder.js';
import { useCommandLine } from './support/command-line.js';
import { DESK } from './support/desk-plugin.js';

const ADD = "!ai Add V to my party, he's a Solo";
const WHO = '!ai Who is in my party?';

/** The output for a card of the confirmation plugin. */
const card = (id: string, ...lines: readonly string[]) =>
  `${id} Cinnabar: 📋 Confirmation Required\n\n${lines.join('\n')}\n\n👍 Confirm  👎 Cancel\n[Confirmation]\n${id} +👍 Cinnabar\n${id} +👎 Cinnabar\n`;
/** The output for a card after its decision. */
const confirmed = (id: string, ...lines: readonly string[]) =>
  `${id} +👍 you\n${id}* Cinnabar: 📋 Confirmation Required\n\n${lines.join('\n')}\n\n👍 Confirm  👎 Cancel\n\n✅ Confirmed by @you at some time\n[Confirmation]\n`;
/** Replaces values that differ between runs. */
const anyTime = (out: string) => out.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'at some time');
const ADD_LINES = ["I'll add V to your party:", '• Role: Solo', '• Gear Preferences: None'];
const VIEW_LINES = ["I'll show the members of your party.", '', '📨 The result is posted in this channel.'];
const ADD_CARD = card('m2', ...ADD_LINES);

describe('npm start without a token', function () {
  this.timeout(60_000);
  const folder = useFolder();
  const { start, play } = useCommandLine();
  const data = () => folder.at('data');
  /** Plays lines in this process: where the lines are the subject, and not the process. */
  const playHere = async (lines: readonly string[], pluginFolders: readonly string[] = []) => {
    await using console = await openConsole(folder.at(), pluginFolders);
    const wrong: string[] = [];
    for (const line of lines) {
      const sentence = await console.type(line);
      if (sentence !== undefined) wrong.push(sentence);
    }
    return {
      out: console
        .take()
        .map((line) => `${line}\n`)
        .join(''),
      wrong,
    };
  };

  it('adds a character in plain language once the member has confirmed it, and knows it in the next run', async () => {
    const asked = (first: number) =>
      `m${first} you: ${WHO}\n${card(`m${first + 1}`, ...VIEW_LINES)}${confirmed(`m${first + 1}`, ...VIEW_LINES)}` +
      `m${first + 2} Cinnabar: 👥 Your party (1)\n• **V** – Solo (Gear Preferences: None)\n-# for @you\n`;
    const first = await play(data(), [ADD, '+1', WHO, '+1']);
    expect({ ...first, out: anyTime(first.out) }).to.deep.equal({
      out: `m1 you: ${ADD}\n${ADD_CARD}${confirmed('m2', ...ADD_LINES)}m3 Cinnabar: ✓ V has been added to your party!\n-# for @you\n${asked(4)}`,
      err: '',
      code: 0,
      signal: null,
    });
    const second = await play(data(), [WHO, '+1']);
    expect({ ...second, out: anyTime(second.out) }).to.deep.equal({ out: asked(1), err: '', code: 0, signal: null });

    const files = await readdir(folder.at('data', 'logs'));
    expect(files.some((name) => /^cinnabar-\d{4}-\d\d-\d\d\.log$/.test(name))).to.equal(true);
    const [audit = ''] = files.filter((name) => name.startsWith('audit-'));
    const entries = (await readFile(folder.at('data', 'logs', audit), 'utf8')).trim().split('\n');
    expect(entries.map((line) => JSON.parse(line))).to.have.length.of.at.least(2);
  });

  it('lets only the member decide who asked, only in time, and cancels at 👎', async () => {
    const lines = [ADD, '@alice: +1 m2', 'wait 61s', 'good morning', '+1 m2', ADD, '-1', WHO, '+1'];
    const { out, wrong } = await playHere(lines);
    expect(out).to.include('m2 +👍 alice\nm3 you: good morning\n');
    expect(out).to.include(
      [
        'm2* Cinnabar: ~~📋 Confirmation Required~~',
        '',
        "~~I'll add V to your party:~~",
        '~~• Role: Solo~~',
        '~~• Gear Preferences: None~~',
        '',
        '~~👍 Confirm  👎 Cancel~~',
        '',
        '⏱️ Request timed out',
        'm2 +👍 you',
        `m4 you: ${ADD}`,
      ].join('\n'),
    );
    expect(out).to.include('m5 +👎 you\n').and.to.include('m6 Cinnabar: Cancelled adding V to your party.\n');
    expect(out).to.not.include('has been added');
    expect(out).to.match(/m9 Cinnabar: .*party is empty/i);
    expect(wrong).to.deep.equal([]);
  });

  it('carries out every kind of line: slash commands, buttons, menus, forms, reactions', async () => {
    await folder.write(DESK);
    const { out, wrong } = await playHere(
      [
        '/desk',
        'click m1 Ring',
        '@bob: select m1 Drawer pen "red stamp"',
        'click m1 Sign',
        'submit guest:"V: the one"',
        'react m1 🎉',
        'unreact m1 🎉',
        '/plugin info plugin:desk',
        '@zoé: hello',
        '@Zoé: again',
        '@you: me',
        '@everyone hello',
        'wait for it',
      ],
      [folder.at('plugins')],
    );
    expect(wrong).to.deep.equal([]);
    const [before = '', after = ''] = out.split(/m5 Cinnabar: \*\*desk\*\*[\s\S]*?\n(?=m6)/);
    expect(before).to.equal(
      [
        'm1 Cinnabar: The desk\n[Ring] [Sign] [Drawer ▾ pen | red stamp]',
        'm2 Cinnabar: Ding!',
        'm3 Cinnabar (only @bob sees this): You took: pen + red stamp',
        'form "Guest book" is open; fill it in with: submit field:value',
        'm4 Cinnabar: Signed by V: the one',
        'm1 +🎉 you',
        'm1 -🎉 you\n',
      ].join('\n'),
    );
    expect(after).to.equal(
      ['m6 zoé: hello', 'm7 zoé: again', 'm8 you: me', 'm9 you: @everyone hello', 'm10 you: wait for it\n'].join('\n'),
    );
  });

  it('restarts and ends the bot for its owner, and finds its slash commands and its clock in order in the next run', async () => {
    const first = await play(data(), ['/help topic:party', '!bot restart', '/help topic:party', 'wait 2h']);
    expect(first.out).to.include('Restarting. I finish what I have begun, and say here when I am back.\n');
    expect(first.out).to.match(/m\d+ Cinnabar: (?!Restarting).*back.*\nm\d+ Cinnabar/);
    expect({ err: first.err, code: first.code }).to.deep.equal({ err: '', code: 0 });
    const second = await play(data(), [
      '/help topic:party',
      '!doctor',
      '!bot shutdown',
      'click m6 Stop it',
      'not heard',
    ]);
    expect(second.out).to.include('The clock of this machine agrees with Discord');
    expect(second.out).to.include('Stopping. Goodbye.').and.to.not.include('not heard');
    expect({ err: second.err, code: second.code }).to.deep.equal({ err: '', code: 0 });
  });

  it('says what is wrong with a line, and goes on', async () => {
    const mistakes: readonly (readonly [string, RegExp])[] = [
      ['+1', /The bot has not said anything yet\./],
      ['/nosuch', /No command "nosuch" here; there are: .*plugin/],
      ['/help nothing:x', /No option "nothing"; there are: topic/],
      ['/help =x', /Options are written name:value/],
      ['click m99 Stop', /There is no message m99\./],
      ['submit a:b', /No form is open\./],
      ['@Cinnabar: hello', /is the bot/],
      ['wait 9999999d', /366 days at most/],
      ['@alice:', /Cannot send an empty message/],
      ['x'.repeat(2_001), /^x{80}…: Must be 2000 or fewer in length\.$/],
      ['react m1 notanemoji', /Unknown Emoji/],
      ['click m1 Stop', /No button "Stop" on the message/],
      ['select m1 Menu a', /There is no menu on that message/],
    ];
    const { out, wrong } = await playHere(['hello', ...mistakes.map(([line]) => line), 'still here']);
    expect(out).to.equal('m1 you: hello\nm2 you: still here\n');
    expect(wrong).to.have.length(mistakes.length);
    for (const [index, [line, sentence]] of mistakes.entries()) expect(wrong[index], line).to.match(sentence);
  });

  it('takes whatever a pipe may hold: nothing, bytes, very long lines, no line end, Windows line ends; ends with 1 after a wrong line, which is on standard error', async () => {
    const nothing = await play(data(), []);
    expect(nothing).to.deep.equal({ out: '', err: '', code: 0, signal: null });

    const bytes = Buffer.concat([
      Buffer.from('one\r\n\r\n   \r\n'),
      Buffer.from([0xff, 0xfe, 0x00, 0x1b, 0x5b, 0x41, 0x0a, 0xc3, 0x28, 0x0a]),
      Buffer.from(`${'👨‍👩‍👧‍👦'.repeat(80)}\n${'y'.repeat(3_000_000)}\n!help nosuchtopic\nlast, without an end`),
    ]);
    const { out, err, code } = await play(data(), bytes);
    expect(code).to.equal(1);
    expect(err.trimEnd().split('\n')).to.have.length(1);
    expect(err).to.match(/^y{80}…: Must be 2000 or fewer in length\.$/m);
    expect(out.startsWith('m1 you: one\nm2 you: ')).to.equal(true);
    expect(out).to.include(`you: ${'👨‍👩‍👧‍👦'.repeat(80)}\n`);
    expect(out.endsWith(' you: last, without an end\n')).to.equal(true);
  });

  it('ends cleanly at SIGTERM and SIGINT with its input still open, and when its output is closed', async () => {
    const stopped = start({ CINNABAR_DATA: data() });
    stopped.child.stdin.write(`${ADD}\n+1\n`);
    await stopped.prints(/has been added/);
    stopped.child.kill('SIGTERM');
    const { code, signal, err } = await stopped.ended;
    expect({ code, signal, err }).to.deep.equal({ code: 0, signal: null, err: '' });

    const interrupted = start({ CINNABAR_DATA: data() });
    interrupted.child.stdin.write(`${WHO}\n+1\n`);
    await interrupted.prints(/V.*Solo/);
    interrupted.child.kill('SIGINT');
    expect((await interrupted.ended).code).to.equal(0);

    const unread = start({ CINNABAR_DATA: data() });
    unread.child.stdout.destroy();
    unread.child.stdin.end('one\ntwo\nthree\n');
    expect(await unread.ended).to.deep.include({ code: 0, err: '' });
  });
});
