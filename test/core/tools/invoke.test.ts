import { UserError, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { alice, bob, GUILD, openToolHarness, recordingTool } from './harness.js';

const request = { name: 'add_party_character', arguments: { name: 'V' }, actor: alice, origin: 'chat' };

function withTool(more: Parameters<typeof recordingTool>[1] = {}) {
  const shop = openToolHarness();
  const runs: unknown[] = [];
  const party = shop.load('party');
  shop.service.tool(party, recordingTool(runs, more));
  return { ...shop, runs, party };
}

describe('invoking a tool', () => {
  it('runs it with validated arguments and their defaults', async () => {
    const { service, runs } = withTool();
    const outcome = await service.invoke(request);
    expect(outcome).to.deep.include({ status: 'done', output: { added: 'V' }, text: '{"added":"V"}' });
    expect(runs).to.deep.equal([{ name: 'V', role: 'Solo' }]);
  });

  it("tells the result in the tool's own words", async () => {
    const { service } = withTool({ present: { success: ({ name }) => `✓ ${name} has been added to your party!` } });
    expect(await service.invoke(request)).to.include({ text: '✓ V has been added to your party!' });
  });

  it('calls it done even when its wording fails, since it has run', async () => {
    const { service } = withTool({
      present: {
        success: () => {
          throw new Error('typo');
        },
      },
    });
    expect(await service.invoke(request)).to.deep.include({ status: 'done', text: '{"added":"V"}' });
  });

  it('says "Done." for a tool that returns nothing', async () => {
    const { service } = withTool({ run: () => undefined });
    expect(await service.invoke(request)).to.include({ text: 'Done.' });
  });

  it('accepts arguments as a JSON string, and none at all where none is needed', async () => {
    const { service, runs } = withTool();
    await service.invoke({ ...request, arguments: '{"name":"Jackie","role":"Fixer"}' });
    expect(runs).to.deep.equal([{ name: 'Jackie', role: 'Fixer' }]);
    const listing = withTool({ input: z.object({}) });
    for (const none of ['', undefined, null, {}]) {
      expect(await listing.service.invoke({ ...request, arguments: none })).to.include({ status: 'done' });
    }
  });

  for (const [what, given] of [
    ['cut off JSON', '{"name":'],
    ['a list', '[1]'],
    ['a number', 7],
    ['something that is not JSON', { name: 1n }],
  ] as const) {
    it(`fails with a sentence for ${what}`, async () => {
      const { service, runs } = withTool();
      const outcome = await service.invoke({ ...request, arguments: given });
      expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_ARGUMENTS');
      expect(outcome).to.have.nested.property(
        'error.message',
        'The arguments for add_party_character are not right: they must be one JSON object',
      );
      expect(runs).to.deep.equal([]);
    });
  }

  it('names the argument that is wrong', async () => {
    const { service } = withTool();
    const outcome = await service.invoke({ ...request, arguments: { name: 7 } });
    expect(outcome).to.have.nested.property('error.message').that.contains('name:');
  });

  it('fails for a tool that does not exist', async () => {
    const outcome = await openToolHarness().service.invoke({ ...request, name: 'launch_missiles' });
    expect(outcome).to.have.nested.property('error.message', 'There is no tool called "launch_missiles".');
  });

  it('shows what a tool throws for people, and hides everything else', async () => {
    const said = withTool({
      run: () => {
        throw new UserError('The party is full.');
      },
    });
    expect(await said.service.invoke(request)).to.have.nested.property('error.message', 'The party is full.');
    const hidden = withTool({
      run: () => {
        throw new Error('password is hunter2');
      },
    });
    const outcome = await hidden.service.invoke(request);
    expect(JSON.stringify(outcome)).not.to.contain('hunter2');
    expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_FAILED');
    expect(hidden.log.entries.map(({ level }) => level)).to.contain('error');
  });

  it('refuses where the plugin is switched off', async () => {
    const { service, states, runs } = withTool();
    await states.update(GUILD, (draft) => ({ ...draft, plugins: { party: false } }));
    expect(await service.invoke(request)).to.include({ status: 'denied' });
    expect(runs).to.deep.equal([]);
  });

  it('refuses while a plugin that guards tools is down, whatever the tool', async () => {
    const { service, guardsDown, runs } = withTool({ risk: 'read' });
    guardsDown.push('confirm');
    const outcome = await service.invoke(request);
    expect(outcome).to.have.nested.property('error.code', 'CINNABAR_TOOL_GUARD_DOWN');
    expect(outcome).to.have.nested.property('error.message').that.contains('"confirm"');
    expect(runs).to.deep.equal([]);
  });

  it('refuses whom access refuses, with the reason', async () => {
    const { service, shutOut, runs } = withTool();
    shutOut.add(bob.userId);
    expect(await service.invoke({ ...request, actor: bob })).to.include({
      status: 'denied',
      reason: 'The tool add_party_character may not be used: you are no longer in this server',
    });
    expect(runs).to.deep.equal([]);
  });

  it('asks access again at execution, trusting no cache', async () => {
    const { service, asked } = withTool();
    await service.invoke(request);
    expect(asked.map(({ fresh }) => fresh)).to.deep.equal([false, true]);
  });

  it('does not run what was cancelled before', async () => {
    const { service, runs } = withTool();
    const outcome = await service.invoke({ ...request, signal: AbortSignal.abort() });
    expect(outcome).to.have.nested.property('error.message').that.contains('cancelled before it ran');
    expect(runs).to.deep.equal([]);
  });

  it('hands the tool a signal that aborts with the request', async () => {
    const stop = new AbortController();
    const { service } = withTool({
      run: (_input, { signal }) => {
        stop.abort();
        return signal.aborted ? 'stopped' : 'went on';
      },
    });
    expect(await service.invoke({ ...request, signal: stop.signal })).to.include({ text: 'stopped' });
  });

  it("gives the tool a copy of nothing but JSON, which it cannot change and which is not the caller's", async () => {
    const shared = { name: 'V', role: 'Solo', extra: 'not in the schema' };
    const { service } = withTool({
      run: (input) => (Object.isFrozen(input) && input !== shared ? Object.keys(input) : 'loose'),
    });
    expect(await service.invoke({ ...request, arguments: shared })).to.include({ text: '["name","role"]' });
  });

  it('offers a tool only where it could be used', async () => {
    const { service, policies, states, shutOut } = withTool();
    const names = async () => (await service.offered(alice)).map(({ name }) => name);
    expect(await names()).to.deep.equal(['add_party_character']);
    await policies.set(GUILD, 'add_party_character', 'deny');
    expect(await names()).to.deep.equal([]);
    await policies.set(GUILD, 'add_party_character', 'confirm');
    expect(await names()).to.deep.equal(['add_party_character']);
    shutOut.add(alice.userId);
    expect(await names()).to.deep.equal([]);
    shutOut.clear();
    await states.update(GUILD, (draft) => ({ ...draft, plugins: { party: false } }));
    expect(await names()).to.deep.equal([]);
  });

  it('works in a direct message, which has no policies', async () => {
    const { service } = withTool();
    expect(await service.invoke({ ...request, actor: { ...alice, guildId: null } })).to.include({ status: 'done' });
  });
});
