import { hang } from '@cinnabar/local-models';
import { definePlugin, PersonaActions, Personas, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createShelf, decide } from '../chat/harness.js';
import { openPersonaHarness, type PersonaHarness, plan, result, set, speak, told, usePersonaHost } from './harness.js';

describe('persona: how runs end', () => {
  const open = usePersonaHost();
  /** An action that runs until it is released. */
  const createWait = () => {
    let begun: () => void = () => undefined;
    let letGo: () => void = () => undefined;
    const under = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const plugin = definePlugin({
      manifest: { id: 'waiting', version: '1.0.0', description: 'Waits' },
      inject: { actions: PersonaActions },
      setup({ services, defer }) {
        const action = {
          name: 'WAIT',
          description: 'Wait',
          contextNeeded: 'Nothing',
          result: z.object({}),
          execute: async () => {
            begun();
            await held;
            return 'waited';
          },
        };
        defer(services.actions.register('waiting', action));
      },
    });
    return { plugin, under, letGo };
  };
  const mood = { action: 'UPDATE_MOOD', result: { mood: 'late', intensity: 9 } };

  it('does nothing more, and says nothing, once its time is up', async () => {
    const wait = createWait();
    await using harness = await openPersonaHarness([plan([{ action: 'WAIT' }, mood, speak('Here I am, late.')])], {
      more: [wait.plugin],
    });
    await set(harness, 'maxSeconds', 10);
    harness.alice.say(harness.general, '!ai Hello?');
    await wait.under;
    harness.clock.advance(10_000);
    wait.letGo();
    await harness.settled();
    expect(told(harness.events)).to.deep.equal([
      'started',
      'planned',
      'started WAIT',
      'finished WAIT',
      'bound_reached',
      'finished',
    ]);
    const { mood: now } = await harness
      .resolve(Personas)
      .state({ guildId: harness.guild.id, channelId: harness.general.id });
    expect(now.name).to.equal('calm');
    expect(harness.general.messages.map(({ content }) => content)).to.not.include('Here I am, late.');
  });

  it('emits the end of every action whose beginning it has emitted', async () => {
    await using harness = await open([plan([{ action: 'UPDATE_MOOD' }]), hang()]);
    await set(harness, 'maxSeconds', 10);
    harness.alice.say(harness.general, '!ai Hello?');
    await harness.llm.hanging();
    await harness.advance(10_000);
    expect(told(harness.events)).to.deep.equal([
      'started',
      'planned',
      'started UPDATE_MOOD',
      'failed UPDATE_MOOD',
      'bound_reached',
      'finished',
    ]);
  });

  it('is stopped with the plugin if no one waits for it, and has recorded by then what it did', async () => {
    const shelf = createShelf();
    const begin = (): Promise<PersonaHarness> =>
      openPersonaHarness(
        [
          plan([{ action: 'USE_TOOL', result: { tool: 'take', arguments: { thing: 'book' } } }, { action: 'SPEAK' }]),
          result({ message: 'As soon as you agree.' }),
          hang(),
        ],
        { more: [shelf.plugin, 'confirm'] },
      );
    await using first = await begin();
    await first.hears('Take the book');
    const card = first.general.messages.findLast(({ reactions }) => reactions.length > 0);
    if (card === undefined) throw new Error('There is no card.');
    first.alice.react(card, '👍');
    await first.llm.hanging();
    await first.stop();
    expect(told(first.events).slice(-2)).to.deep.equal(['stopped', 'finished']);
    await using second = await openPersonaHarness([], { world: first, dataDir: first.dataDir });
    const kept = await second.resolve(Personas).recent(second.general.id);
    expect(told(kept).slice(-2)).to.deep.equal(['stopped', 'finished']);
  });

  it('does not think about the end of a call where it has been switched off meanwhile', async () => {
    const shelf = createShelf();
    await using harness = await openPersonaHarness(
      [plan([{ action: 'USE_TOOL', result: { tool: 'take', arguments: { thing: 'book' } } }])],
      { more: [shelf.plugin, 'confirm'] },
    );
    await harness.hears('Take the book');
    harness.you.say(harness.general, '!plugin disable persona');
    await harness.settled();
    await decide(harness, '👍');
    expect(shelf.taken).to.deep.equal(['book']);
    expect(harness.llm.requests).to.have.length(1);
  });

  it('knows what it has said when the rest of that could not be sent', async () => {
    const long = Array.from({ length: 500 }, (_, index) => `word${index}`).join(' ');
    await using harness = await open([plan([speak(long)]), plan([])]);
    const messages = { method: 'POST', route: '/channels/:channelId/messages' };
    const failNext = ({ method, path }: { method: string; path: string }) => {
      if (method !== 'POST' || !path.endsWith('/messages')) return;
      harness.client.rest.off('response', failNext);
      harness.discord.faults.rest.fail(400, messages);
    };
    harness.client.rest.on('response', failNext);
    const [part, ...others] = await harness.hears('Tell me everything');
    expect(others, 'no excuse after the first part').to.deep.equal([]);
    await harness.hears('Go on');
    expect(JSON.stringify(harness.llm.requests.at(-1)?.messages)).to.include(part);
  });
});
