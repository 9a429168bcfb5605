import { chooseAgent, modeOf, type Roster, rosters } from '@cinnabar/plugin-relay/dist/agents/roster.js';
import { expect } from 'chai';

const roster: Roster = rosters.schema.parse({
  enabled: true,
  defaultAgent: 'aurora',
  agents: {
    aurora: { agentId: 'agent-1', name: 'Aurora' },
    'aurora-two': { agentId: 'agent-2', name: 'Aurora-Two' },
    scout: { agentId: 'agent-3', name: 'Scout', channels: ['7'] },
  },
  modes: { '7': 'always', '8': 'off' },
});
const chosen = (text: string, places: readonly string[] = ['1']) => chooseAgent(roster, places, text)?.key;

describe('relay: which agent a message is for', () => {
  it('is the default where nothing says otherwise', () => {
    expect(chosen('Hello')).to.equal('aurora');
  });

  it('is the one of the channel, also in its threads', () => {
    expect(chosen('Hello', ['7'])).to.equal('scout');
    expect(chosen('Hello', ['9', '7'])).to.equal('scout');
  });

  it('is the one that is addressed by name, at the beginning or set off at the end; a name that merely occurs addresses no one', () => {
    expect(chosen('scout, what is there?')).to.equal('scout');
    expect(chosen('AURORA: ask them', ['7'])).to.equal('aurora');
    expect(chosen('Is it so, aurora?', ['7'])).to.equal('aurora');
    expect(chosen('Ask aurora', ['7'])).to.equal('scout');
    expect(chosen('The scouts and auroras are out')).to.equal('aurora');
    expect(chosen('Scouting, she said', ['1'])).to.equal('aurora');
  });

  it('is the longer one of two names, and the first of two agents', () => {
    expect(chosen('aurora-two?')).to.equal('aurora-two');
    expect(chosen('Scout or Aurora?')).to.equal('scout');
  });

  it('is no one where there is no agent', () => {
    expect(chooseAgent(rosters.schema.parse({}), ['1'], 'Hello')).to.equal(undefined);
    expect(chooseAgent(rosters.schema.parse({ defaultAgent: 'constructor' }), ['1'], 'Hello')).to.equal(undefined);
  });
});

describe('relay: the mode of a channel', () => {
  it('is that of the channel it belongs to, where it has none itself', () => {
    expect(modeOf(roster, ['9', '7'])).to.equal('always');
    expect(modeOf(roster, ['8', '7'])).to.equal('off');
    expect(modeOf(roster, ['1'])).to.equal('mention');
  });
});
