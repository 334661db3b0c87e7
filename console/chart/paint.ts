import type { Shape } from './shapes.ts';

/** Paints shapes on a canvas. */

interface PaintProps {
  readonly shapes: readonly Shape[];
  /** Where shapes may be, in pixels of the page; `ratio` is the number of pixels of the canvas for each of them. */
  readonly frame: { left: number; top: number; width: number; height: number; ratio: number };
  readonly colourOf: (css: string) => string;
}

/** Lengths of strokes and gaps, by the `dash` of a line. */
export const DASHES: readonly (readonly number[])[] = [
  [],
  [6, 3],
  [2, 3],
  [9, 3, 2, 3],
  [1, 2],
  [12, 4],
  [4, 2, 1, 2],
];
export const LINE_WIDTH_PX = 1.75;

export function paint(context: CanvasRenderingContext2D, { shapes, frame, colourOf }: PaintProps): void {
  context.save();
  context.scale(frame.ratio, frame.ratio);
  context.beginPath();
  // A line along the edge of the plot is not cut in half.
  context.rect(frame.left - 1, frame.top - 2, frame.width + 2, frame.height + 3);
  context.clip();
  for (const shape of shapes) paintShape(context, shape, colourOf(shape.colour));
  context.restore();
}

function paintShape(context: CanvasRenderingContext2D, shape: Shape, colour: string): void {
  context.globalAlpha = 'opacity' in shape ? shape.opacity : 1;
  context.fillStyle = colour;
  context.strokeStyle = colour;
  context.beginPath();
  switch (shape.kind) {
    case 'line':
      context.lineWidth = LINE_WIDTH_PX;
      context.lineJoin = 'round';
      context.setLineDash([...(DASHES[shape.dash % DASHES.length] ?? [])]);
      for (const run of shape.runs) trace(context, run);
      context.stroke();
      return;
    case 'area':
      for (const run of shape.runs) trace(context, run);
      context.fill();
      return;
    case 'box':
      for (let at = 0; at < shape.boxes.length; at += 4) {
        const [x = 0, y = 0, width = 0, height = 0] = shape.boxes.slice(at, at + 4);
        context.rect(x, y, width, height);
      }
      context.fill();
      return;
    case 'dot':
      for (let at = 0; at < shape.dots.length; at += 2) {
        const [x = 0, y = 0] = [shape.dots[at], shape.dots[at + 1]];
        context.moveTo(x + shape.radius, y);
        context.arc(x, y, shape.radius, 0, 2 * Math.PI);
      }
      context.fill();
  }
}

function trace(context: CanvasRenderingContext2D, run: readonly number[]): void {
  context.moveTo(run[0] ?? 0, run[1] ?? 0);
  for (let at = 2; at < run.length; at += 2) context.lineTo(run[at] ?? 0, run[at + 1] ?? 0);
}
