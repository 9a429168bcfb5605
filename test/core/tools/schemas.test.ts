import {
  toAnthropicTool,
  toMcpTool,
  toOpenAiChatTool,
  toOpenAiResponsesTool,
} from '@cinnabar/core/internal/tools/schemas';
import type { ToolInfo } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openWorkshop, recordingTool } from './workshop.js';

function infoOf(risk: ToolInfo['risk'] = 'write'): ToolInfo {
  const { room, load } = openWorkshop();
  room.tool(load('party'), recordingTool([], { risk }));
  const [info] = room.list();
  if (info === undefined) throw new Error('nothing was registered');
  return info;
}

const parameters = {
  type: 'object',
  properties: { name: { type: 'string' }, role: { type: 'string', default: 'Solo' } },
  required: ['name'],
};
const common = { name: 'add_party_character', description: 'Adds a character' };

describe('a tool as providers want it', () => {
  it('for the OpenAI Responses API', () => {
    expect(toOpenAiResponsesTool(infoOf())).to.deep.equal({ type: 'function', ...common, parameters, strict: false });
  });

  it('for OpenAI Chat Completions', () => {
    expect(toOpenAiChatTool(infoOf())).to.deep.equal({ type: 'function', function: { ...common, parameters } });
  });

  it('for Anthropic', () => {
    expect(toAnthropicTool(infoOf())).to.deep.equal({ ...common, input_schema: parameters });
  });

  it('for MCP, with hints from the risk', () => {
    expect(toMcpTool(infoOf('read'))).to.deep.equal({
      ...common,
      inputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...parameters },
      annotations: { readOnlyHint: true, destructiveHint: false },
    });
    expect(toMcpTool(infoOf('write')).annotations).to.deep.equal({ readOnlyHint: false, destructiveHint: false });
    expect(toMcpTool(infoOf('destructive')).annotations).to.deep.equal({ readOnlyHint: false, destructiveHint: true });
  });
});
