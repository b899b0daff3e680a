#!/usr/bin/env python3
"""What PyTorch makes of the cases of tests/nn_golden_test.cc: python3 nn_golden.py IN.json OUT.json.

Reads networks with their inputs and rollouts, adds to each case `expected` (logits, values, loss, gradient), all in
double. The loss is written from the article and not from src/nn/ppo_loss.cc.
"""
import json
import sys

import torch


def tensor(values, *shape):
    return torch.tensor(values, dtype=torch.float64).reshape(*shape)


def forward(case, parameters):
    """Weights are inputs x outputs, each layer's biases after them; hidden layers, then policy, then value."""
    at = 0
    x = tensor(case["inputs_rows"], case["rows"], case["inputs"])

    def affine(x, width):
        nonlocal at
        weights = parameters[at:at + x.shape[1] * width].reshape(x.shape[1], width)
        at += weights.numel() + width
        return x @ weights + parameters[at - width:at]

    for width in case["hidden"]:
        x = affine(x, width)
        x = torch.tanh(x) if case["activation"] == "tanh" else torch.relu(x)
    logits = affine(x, case["heads"] * case["options"])
    return logits, affine(x, 1)[:, 0]


def loss_of(case, logits, values):
    rows, heads, options = case["rows"], case["heads"], case["options"]
    mask = tensor(case["masks"], rows, heads, options) > 0
    members = tensor(case["members"], rows, heads)
    counts = tensor(case["counts"], rows, heads, options)
    advantages, returns = tensor(case["advantages"], rows), tensor(case["returns"], rows)
    logits = logits.reshape(rows, heads, options).masked_fill(~mask, -1e300)
    log_p = torch.log_softmax(logits, dim=2).masked_fill(~mask, 0)
    p = torch.softmax(logits, dim=2)
    chosen = (counts * log_p).sum((1, 2))
    ratio = torch.exp(chosen - tensor(case["old_log_probabilities"], rows))
    weights = case["weights"]
    share = members / members.sum(1, keepdim=True).clamp(min=1)
    entropy = (share * -(p * log_p).sum(2)).sum(1)
    if weights["clipped"]:
        clip = weights["clip"]
        policy = -torch.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
    else:
        old = tensor(case["old_probabilities"], rows, heads, options)
        apart = (old * (torch.log(old.clamp(min=1e-300)) - log_p)).masked_fill(old == 0, 0).sum(2)
        policy = -ratio * advantages + weights["kl"] * (members * apart).sum(1)
    error = (values - returns) ** 2
    if weights["value_clip"] > 0:
        old = tensor(case["old_values"], rows)
        held = old + (values - old).clamp(-weights["value_clip"], weights["value_clip"])
        error = torch.max(error, (held - returns) ** 2)
    return (policy + weights["value"] * error - weights["entropy"] * entropy).mean()


def main():
    cases = json.load(open(sys.argv[1]))
    for case in cases:
        parameters = tensor(case["parameters"], -1).requires_grad_()
        logits, values = forward(case, parameters)
        loss = loss_of(case, logits, values)
        loss.backward()
        case["expected"] = {"logits": logits.flatten().tolist(), "values": values.tolist(), "loss": loss.item(),
                            "gradient": parameters.grad.tolist()}
    with open(sys.argv[2], "w") as out:
        # One case a line, so that a change shows which.
        out.write("[" + ",\n".join(json.dumps(case) for case in cases) + "]\n")


main()
