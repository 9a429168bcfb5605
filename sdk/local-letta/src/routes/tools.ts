import { page } from '../http/page.js';
import { type Route, route } from '../http/route.js';
import { toolState } from '../payload/tool.js';
import { toolOf } from './find.js';

export const tools: readonly Route[] = [
  route('GET', '/v1/tools', (request, world) => {
    const name = request.query.get('name');
    const all = [...world.tools.values()].filter((tool) => name === null || tool.name === name);
    return { json: page(all, request).map(toolState) };
  }),
  route('GET', '/v1/tools/:toolId', (request, world) => ({ json: toolState(toolOf(world, request)) })),
];
