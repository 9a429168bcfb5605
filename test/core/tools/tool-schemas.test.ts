import type Anthropic from '@anthropic-ai/sdk';
import { type ToolInfo, toAnthropicTool, toMcpTool, toOpenAiChatTool, toOpenAiResponsesTool } from '@cinnabar/sdk';
import { expect } from 'chai';
import type OpenAI from 'openai';
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

/** The exporters by the types of the providers' own clients: a change of theirs is a compile error here. */
const exporters: {
  readonly responses: (tool: ToolInfo) => OpenAI.Responses.FunctionTool;
  readonly chat: (tool: ToolInfo) => OpenAI.Chat.ChatCompletionFunctionTool;
  readonly anthropic: (tool: ToolInfo) => Anthropic.Tool;
} = { responses: toOpenAiResponsesTool, chat: toOpenAiChatTool, anthropic: toAnthropicTool };

describe('a tool as providers want it', () => {
  it('for the OpenAI Responses API', () => {
    expect(exporters.responses(infoOf())).to.deep.equal({ type: 'function', ...common, parameters, strict: false });
  });

  it('for OpenAI Chat Completions', () => {
    expect(exporters.chat(infoOf())).to.deep.equal({ type: 'function', function: { ...common, parameters } });
  });

  it('for Anthropic', () => {
    expect(exporters.anthropic(infoOf())).to.deep.equal({ ...common, input_schema: parameters });
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
