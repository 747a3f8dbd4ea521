# SPDX-License-Identifier: Apache-2.0
"""Replaces the package transformers: the functions in use, and small models."""
import collections
import json
import os

import torch
from torch import nn

__version__ = "4.40.0"
DUMMY_INPUTS = [[7, 6, 0, 0, 1], [1, 2, 3, 0, 0], [0, 0, 0, 4, 5]]


class PretrainedConfig:
    def __init__(self, **values):
        self.use_cache = True
        self.return_dict = True
        self.is_encoder_decoder = False
        self.architectures = None
        vars(self).update(values)


def read_config(name):
    if not os.path.isfile(os.path.join(name, "config.json")):
        raise OSError(f"{name} is not a local folder and is not a valid model identifier listed on "
                      "'https://huggingface.co/models'\nIf this is a private repository, make sure to pass a token.")
    with open(os.path.join(name, "config.json"), encoding="utf-8") as file:
        return PretrainedConfig(**json.load(file))


class ModelOutput(collections.OrderedDict):
    """Results by name, as a model returns them."""


class PreTrainedModel(nn.Module):
    main_input_name = "input_ids"

    def __init__(self, config, *inputs, **kwargs):
        super().__init__()
        self.config = config

    @property
    def dummy_inputs(self):
        return {"input_ids": torch.tensor(DUMMY_INPUTS)}

    @classmethod
    def from_pretrained(cls, name, *model_args, config=None, **kwargs):
        model = cls(config or read_config(name), *model_args, **kwargs)
        model.eval()
        return model


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size)

    def forward(self, hidden_states, attention_mask=None):
        weights = torch.softmax(self.query(hidden_states) @ hidden_states.transpose(1, 2), -1)
        if attention_mask is not None:
            weights = weights * attention_mask[:, None, :]
        return self.norm(hidden_states + weights @ hidden_states)


class BertModel(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layer = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, use_cache=None, return_dict=None):
        hidden_states = self.embeddings(input_ids)
        for layer in self.layer:
            hidden_states = layer(hidden_states, attention_mask)
        made = ModelOutput(last_hidden_state=hidden_states)
        if self.config.use_cache if use_cache is None else use_cache:
            made["past_key_values"] = tuple((hidden_states, hidden_states) for _ in self.layer)
        return made


class BertForTokenClassification(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)
        self.classifier = nn.Linear(config.hidden_size, 3)

    def forward(self, input_ids=None, attention_mask=None):
        return ModelOutput(logits=self.classifier(self.bert(input_ids, attention_mask)["last_hidden_state"]))


class ViTModel(PreTrainedModel):
    main_input_name = "pixel_values"

    def __init__(self, config):
        super().__init__(config)
        self.patches = nn.Conv2d(config.num_channels, config.hidden_size, 4, 4)

    def forward(self, pixel_values=None, head_mask=None, return_dict=None):
        return ModelOutput(last_hidden_state=self.patches(pixel_values).flatten(2))


class T5Model(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.shared = nn.Embedding(config.vocab_size, config.hidden_size)
        self.decoder = nn.Linear(config.hidden_size, config.hidden_size)

    @property
    def dummy_inputs(self):
        ids, mask = torch.tensor(DUMMY_INPUTS), torch.tensor(DUMMY_INPUTS) > 0
        return {"decoder_input_ids": ids, "input_ids": ids, "decoder_attention_mask": mask}

    def forward(self, input_ids=None, attention_mask=None, decoder_input_ids=None, decoder_attention_mask=None):
        known = self.shared(input_ids).sum(1, keepdim=True)
        made = self.decoder(self.shared(decoder_input_ids) + known)
        if decoder_attention_mask is not None:
            made = made * decoder_attention_mask[:, :, None]
        return ModelOutput(last_hidden_state=made)


class AutoConfig:
    @classmethod
    def from_pretrained(cls, name, **kwargs):
        return read_config(name)


class AutoModel:
    @classmethod
    def from_pretrained(cls, name, **kwargs):
        kinds = {"bert": BertModel, "vit": ViTModel, "t5": T5Model}
        return kinds[AutoConfig.from_pretrained(name).model_type].from_pretrained(name)
