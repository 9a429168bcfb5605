import { CinnabarError, type CommandDefinition, UserError } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createHarness, type Harness } from '../support/harness.js';

describe('an error in a command', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await createHarness();
  });
  afterEach(() => harness[Symbol.asyncDispose]());

  const register = (definition: Partial<CommandDefinition>) =>
    harness.commands.command(harness.owner('dice'), {
      name: 'roll',
      description: 'Rolls',
      run: (context) => context.reply('rolled'),
      ...definition,
    });

  it('is shown as the plugin’s sentence when it is for people, and does not count as a failure', async () => {
    register({
      run: () => {
        throw new UserError('The bag is empty.');
      },
    });
    expect(await harness.ask(harness.alice, '!roll')).to.deep.equal(['The bag is empty.']);
    expect(harness.logged).to.deep.equal([]);
  });

  it('is shown as its sentence when it has a code', async () => {
    register({
      run: async () => {
        throw new CinnabarError('CINNABAR_LLM_RATE_LIMITED');
      },
    });
    expect(await harness.ask(harness.alice, '!roll')).to.deep.equal([
      'The language model is busy; please try again in a moment.',
    ]);
  });

  it('is kept from people otherwise, and leads from a reference to the log', async () => {
    const cause = new TypeError('dice.map is not a function');
    register({
      run: () => {
        throw cause;
      },
    });
    expect(await harness.ask(harness.alice, '!roll')).to.deep.equal([
      'Something went wrong while doing that. It has been logged (reference `ref1`).',
    ]);
    const [entry] = harness.logged;
    expect(entry?.level).to.equal('error');
    const error = entry?.fields.error;
    expect(error).to.be.instanceOf(Error).with.property('cause', cause);
    expect(error).to.have.property('message').that.includes(`reference ref1, user ${harness.alice.id}`);
  });

  it('is a plain sentence to members where the reason is the operator’s, who reads it in the log and at their own commands', async () => {
    const fail = () => {
      throw new CinnabarError('CINNABAR_LLM_REFUSED', { detail: 'http://10.0.0.7/v1 refused OPENAI_API_KEY' });
    };
    register({ run: fail });
    register({ name: 'llm', access: { tier: 'botOwner' }, run: fail });
    const [told = ''] = await harness.ask(harness.alice, '!roll');
    expect(told).to.match(/^The language model did not accept the request\..*reference `ref1`/);
    expect(told).not.to.match(/http|OPENAI|10\.0/);
    expect(harness.logged.map(({ level, message }) => [level, message])).to.deep.equal([
      [
        'warn',
        `command roll failed (reference ref1, user ${harness.alice.id}, channel ${harness.general.id}): The language model refused the request: http://10.0.0.7/v1 refused OPENAI_API_KEY`,
      ],
    ]);
    expect(await harness.ask(harness.you, '!llm')).to.deep.equal([
      'The language model refused the request: http://10.0.0.7/v1 refused OPENAI_API_KEY',
    ]);
  });

  it('tells the caller to wait when a command is used too often', async () => {
    register({ cooldown: { uses: 2, perMs: 10_000 } });
    expect(await harness.ask(harness.alice, '!roll')).to.deep.equal(['rolled']);
    harness.clock.advance(4_000);
    expect(await harness.ask(harness.alice, '!roll')).to.deep.equal(['rolled']);
    expect(await harness.ask(harness.alice, '!roll')).to.deep.equal(['Please wait 6 s before using this again.']);
    expect(await harness.ask(harness.you, '!roll')).to.deep.equal(['rolled']);
    harness.clock.advance(6_000);
    expect(await harness.ask(harness.alice, '!roll')).to.deep.equal(['rolled']);
    expect(await harness.ask(harness.alice, '!roll')).to.deep.equal(['Please wait 4 s before using this again.']);
  });

  it('counts uses by channel or guild where the command says so', async () => {
    register({ cooldown: { uses: 1, perMs: 10_000, by: 'channel' } });
    register({ name: 'all', cooldown: { uses: 1, perMs: 10_000, by: 'guild' } });
    const other = harness.guild.createChannel({ name: 'other' });
    await harness.settled();
    await harness.ask(harness.alice, '!roll');
    expect(await harness.ask(harness.you, '!roll')).to.deep.equal(['Please wait 10 s before using this again.']);
    expect(await harness.ask(harness.you, '!roll', other)).to.deep.equal(['rolled']);
    await harness.ask(harness.alice, '!all');
    expect(await harness.ask(harness.you, '!all', other)).to.deep.equal(['Please wait 10 s before using this again.']);
  });

  it('does not use up the cooldown when the options are wrong', async () => {
    register({ cooldown: { uses: 1, perMs: 10_000 } });
    await harness.ask(harness.alice, '!roll too much');
    expect(await harness.ask(harness.alice, '!roll')).to.deep.equal(['rolled']);
  });
});
