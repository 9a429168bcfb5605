import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { definePlugin, type Plugin, type Turn } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createMind } from '../../plugins/ai/harness.js';

const STOPPED = 'I was stopped before I had finished this. Please ask again.';
const INTERRUPTED =
  'This was interrupted, because I am being stopped or updated. Please check what came of it, then ask again.';

const never = () => new Promise<never>(() => undefined);

/** Commands that end when they are cancelled, that never end, and that send their own text when they are cancelled. */
const workshop = (): Plugin =>
  definePlugin({
    manifest: { id: 'workshop', version: '1.0.0', description: 'Works' },
    setup({ command, component }) {
      const button = component({
        name: 'hang',
        async run(interaction) {
          await interaction.deferUpdate();
          await never();
        },
      });
      const sum = component({
        name: 'sum',
        async run(interaction) {
          await interaction.deferReply({ flags: 'Ephemeral' });
          await interaction.editReply('It is 42.');
        },
      });
      command({ name: 'hang', description: 'Never ends', run: never });
      command({
        name: 'wait',
        description: 'Ends when cancelled',
        run: ({ signal }) =>
          aborted(signal).then(() => {
            throw new Error('cancelled');
          }),
      });
      command({
        name: 'last-words',
        description: 'Says something',
        run: async (ctx) => {
          await aborted(ctx.signal);
          await ctx.reply('Half of it is done.');
        },
      });
      command({
        name: 'begin',
        description: 'Says that it begins, and never ends',
        run: (ctx) => ctx.reply('I begin.').then(never),
      });
      command({
        name: 'button',
        description: 'Shows buttons',
        run: (ctx) =>
          ctx.reply({
            content: 'A button',
            components: [
              {
                type: 1,
                components: [
                  { type: 2, style: 1, label: 'Hang', custom_id: button.customId() },
                  { type: 2, style: 1, label: 'Add', custom_id: sum.customId() },
                ],
              },
            ],
          }),
      });
    },
  });

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

/** Stops the bot while the clock runs. @returns also its messages meanwhile */
async function stop(host: TestHost): Promise<{ readonly said: readonly string[]; readonly tookMs: number }> {
  const before = host.general.messages.length;
  const began = host.clock.now();
  let isOver = false;
  const end = host.stop().then(() => {
    isOver = true;
  });
  while (!isOver) {
    // Requests take real time, independent of the clock.
    await host.discord.settled();
    if (!isOver) host.clock.advance(100);
  }
  await end;
  const said = host.general.messages.slice(before).map(({ content }) => content);
  return { said, tookMs: host.clock.now() - began };
}

describe('a host that is stopped', () => {
  it('lets what is under way finish, and says nothing then', async () => {
    let finish = () => undefined as unknown;
    const mind = createMind(
      'chat',
      (turn) =>
        new Promise<void>((resolve) => {
          finish = () => turn.reply('done').then(() => resolve());
        }),
    );
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} work`);
    await mind.begun(1);
    const stopped = stop(host);
    finish();
    expect((await stopped).said).to.deep.equal(['done']);
  });

  it('tells those whom it cannot answer any more, once each, before anything is unloaded', async () => {
    const mind = createMind('chat', never);
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    host.alice.say(host.general, `${host.bot} first`);
    await mind.begun(1);
    host.bob.say(host.general, `${host.bot} second`);
    host.you.say(host.general, '!ai third');
    await host.discord.settled();
    const { said, tookMs } = await stop(host);
    expect(said).to.deep.equal([STOPPED, STOPPED, STOPPED]);
    expect(tookMs).to.be.below(9_000);
  });

  it('tells those whose command is interrupted, whether it listens to its signal or not, unless it does so itself', async () => {
    await using host = await createTestHost({ plugins: [workshop()] });
    for (const text of ['!hang', '!wait', '!last-words']) host.alice.say(host.general, text);
    const slash = host.alice.slash(host.general, 'hang', {});
    await host.discord.settled();
    const { said } = await stop(host);
    expect([...said].sort()).to.deep.equal(['Half of it is done.', INTERRUPTED, INTERRUPTED]);
    expect(slash.messages.at(-1)?.content).to.equal(INTERRUPTED);
  });

  /** Stops the bot while its next request of this kind takes longer than work may continue after its cancellation. */
  async function stopDuring(
    host: TestHost,
    request: { readonly method: string; readonly route: string | RegExp },
    ask: () => unknown,
  ) {
    const goOn = host.discord.faults.rest.hold(request);
    ask();
    await host.discord.settled();
    const began = host.clock.now();
    let isOver = false;
    const stopped = stop(host).finally(() => {
      isOver = true;
    });
    // Work is cancelled after 6 s, and has one more second.
    while (!isOver && host.clock.now() - began < 7_200) await new Promise(setImmediate);
    goOn();
    return stopped;
  }
  const POST = { method: 'POST', route: '/channels/:channelId/messages' };

  it('says no more to those whose answer is on its way', async () => {
    await using host = await createTestHost({ plugins: [workshop()] });
    const { said } = await stopDuring(host, POST, () => host.alice.say(host.general, '!button'));
    expect(said).to.deep.equal(['A button']);
  });

  it('tells those whose command had more to do after the answer that was on its way', async () => {
    await using host = await createTestHost({ plugins: [workshop()] });
    const { said } = await stopDuring(host, POST, () => host.alice.say(host.general, '!begin'));
    expect(said).to.deep.equal(['I begin.', INTERRUPTED]);
  });

  for (const [asked, ask] of [
    ['a mention', (host: TestHost) => `${host.bot} work`],
    ['a command', () => '!ai work'],
  ] as const) {
    it(`says no more after an answer to ${asked} that is on its way, and after one in parts only when a part is missing`, async () => {
      const responders = {
        whole: (turn: Turn) => turn.reply('done'),
        sent: (turn: Turn) => turn.sending(turn.channel.send('done')),
        part: (turn: Turn) => turn.reply('done').then(never),
      };
      for (const [kind, respond] of Object.entries(responders)) {
        await using host = await createTestHost({ plugins: ['ai', createMind('chat', respond).plugin] });
        const { said } = await stopDuring(host, POST, () => host.alice.say(host.general, ask(host)));
        expect(said, kind).to.deep.equal(kind === 'part' ? ['done', STOPPED] : ['done']);
      }
    });
  }

  it('says no more after a chat answer that is on its way, sent at once or while it grows', async () => {
    for (const streaming of [false, true]) {
      await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', scriptedLlm([say('done')])] });
      host.you.say(host.general, `!set chat streaming ${streaming}`);
      await host.settled();
      const { said } = await stopDuring(host, POST, () => host.alice.say(host.general, '!ai work'));
      expect(said, `streaming ${streaming}`).to.deep.equal(['done']);
    }
  });

  it('says no more after the answer to a button that is on its way', async () => {
    await using host = await createTestHost({ plugins: [workshop()] });
    host.alice.say(host.general, '!button');
    await host.settled();
    const [card] = host.general.messages.slice(-1);
    if (card === undefined) throw new Error('there is no card');
    let click: ReturnType<typeof host.alice.click> | undefined;
    await stopDuring(host, { method: 'PATCH', route: /\/webhooks\// }, () => {
      click = host.alice.click(card, 'Add');
    });
    expect(click?.messages.map(({ content }) => content)).to.deep.equal(['It is 42.']);
  });

  it('answers a button that it could not finish', async () => {
    await using host = await createTestHost({ plugins: [workshop()] });
    host.alice.say(host.general, '!button');
    await host.settled();
    const [card] = host.general.messages.slice(-1);
    if (card === undefined) throw new Error('there is no card');
    const click = host.alice.click(card, 'Hang');
    await click.answered();
    await stop(host);
    expect(click.messages.map(({ content }) => content)).to.include(INTERRUPTED);
  });

  it('answers interactions that come too late', async () => {
    await using host = await createTestHost({ plugins: [workshop()] });
    host.alice.say(host.general, '!hang');
    await host.discord.settled();
    const stopped = stop(host);
    const late = host.bob.slash(host.general, 'hang', {});
    await late.answered();
    expect(late.response?.content).to.match(/^I am being stopped or restarted, so nothing was done\./);
    await stopped;
  });

  it('ends in 14 s although a disposer hangs, requests hang and the disk hangs', async () => {
    const disposed: string[] = [];
    const holding = (id: string, dispose: () => unknown) =>
      definePlugin({
        manifest: { id, version: '1.0.0', description: id },
        setup: ({ defer }) =>
          void defer(() => {
            disposed.push(id);
            return dispose();
          }),
      });
    await using host = await createTestHost({
      plugins: ['ai', createMind('chat', never).plugin, holding('good', () => undefined), holding('bad', never)],
    });
    host.discord.faults.rest.hold({ times: Number.POSITIVE_INFINITY });
    host.alice.say(host.general, `${host.bot} first`);
    await host.discord.settled();
    const { tookMs } = await stop(host);
    expect(disposed).to.have.members(['good', 'bad']);
    expect(tookMs).to.be.below(14_500);
    host.discord.faults.clear();
  });
});
